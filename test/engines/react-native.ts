/** Runs the example for React Native in Hermes, as bytecode. */
import { bundleForReactNative } from '../world/react-native-bundle.ts';
import { runHermesBytecode } from './engines.ts';

/** What React Native adds to Hermes, and the stand-ins for native modules. The numbers are not random, and nothing here is secret. */
const REACT_NATIVE = `
  var stored = {}, state = 1, app = {
    'expo-secure-store': {
      getItem: function (name) { return name in stored ? stored[name] : null; },
      setItem: function (name, text) { stored[name] = text; }
    },
    'react-native': { AppState: { addEventListener: function () {} } },
    'react-native-argon2': function () { return Promise.resolve({ rawHash: '07'.repeat(32) }); },
    'react-native-get-random-values': {}
  };
  globalThis.crypto = { getRandomValues: function (bytes) {
    for (var i = 0; i < bytes.length; i++) bytes[i] = (state = state * 48271 % 0x7fffffff) >> 8;
    return bytes;
  } };
  globalThis.queueMicrotask = function (task) { Promise.resolve().then(task); };
  // Hermes's program runs timers in the order of their calls, whatever they wait. So the clock goes from timer to timer.
  var now = 0, timers = [], cleared = 0, timerId = 0, later = setTimeout;
  function runNext() {
    if (cleared > 0) return void cleared--; // a timer that was cleared brings no other one forward
    timers.sort(function (a, b) { return a.at - b.at || a.id - b.id; });
    // Its promises take turns with its timers: the clock goes on once they have nothing left to do.
    if (timers[0].at > now && timers[0].turns++ < 100) return void later(runNext, 0);
    var timer = timers.shift();
    now = timer.at;
    timer.run();
  }
  globalThis.setTimeout = function (task, wait, value) {
    timers.push({ id: ++timerId, at: now + (wait || 0), turns: 0, run: function () { task(value); } });
    later(runNext, 0);
    return timerId;
  };
  globalThis.clearTimeout = function (id) {
    var left = timers.filter(function (timer) { return timer.id !== id; });
    cleared += timers.length - left.length;
    timers = left;
  };
  globalThis.performance = { now: function () { return now; } };
  globalThis.console = { warn: function () {} };
  globalThis.setInterval = function () {}; // for pings, a minute apart
  globalThis.clearInterval = function () {};
`;

const EXPECTED = 'XXpsk2: You said: hello; KKpsk0: You said: hello';

/** @returns what went wrong */
export async function tryReactNative(): Promise<string | undefined> {
  const phone = await bundleForReactNative('test/engines/phone.ts');
  const program = `${REACT_NATIVE}\n${phone}\nexample.visits().then(print, function (error) { print(error.stack); });`;
  const printed = (await runHermesBytecode(program)).trim();
  return printed === EXPECTED ? undefined : printed;
}
