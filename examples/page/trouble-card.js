/** The switches of the demo's hub. They are shown only if this page came with one. */

const byId = (id) => document.getElementById(id);

export async function offerTrouble() {
  const demo = await fetch('hub').then(
    (response) => (response.ok ? response.json() : undefined),
    () => undefined,
  );
  if (demo === undefined) return;
  for (const id of ['fill-in', 'trouble']) byId(id).hidden = false;

  byId('fill-in').addEventListener('click', () => {
    byId('identity-text').value = JSON.stringify(demo.identity, undefined, 2);
  });
  let isRunning = demo.isRunning;
  const ask = async (what) => {
    const response = await fetch(`hub/${what}`, { method: 'POST' });
    ({ isRunning } = await response.json());
    byId('power').textContent = isRunning ? 'Stop the hub' : 'Start the hub';
  };
  byId('cut').addEventListener('click', () => ask('cut'));
  byId('power').addEventListener('click', () => ask(isRunning ? 'stop' : 'start'));
  byId('new-key').addEventListener('click', () => ask('new-key'));
}
