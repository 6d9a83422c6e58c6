/** The switches of the hub in this page: what networks, hubs and operators do to a client. */

const byId = (id) => document.getElementById(id);

/**
 * @param {import('./hub-in-page.js').HubInPage} hub
 * @param {() => void} hurry - makes the client dial without a pause, so that the effect of a switch shows at once
 */
export function offerTrouble(hub, hurry) {
  const showPower = () => {
    byId('power').textContent = hub.isRunning ? 'Stop the hub' : 'Start the hub';
  };
  byId('cut').addEventListener('click', () => hub.cut());
  byId('power').addEventListener('click', () => {
    if (hub.isRunning) hub.stop();
    else {
      hub.start();
      hurry();
    }
    showPower();
  });
  byId('new-key').addEventListener('click', () => {
    hub.renewKey();
    hurry();
  });
  byId('forget').addEventListener('click', () => {
    hub.forgetClient();
    hurry();
  });
}
