/** Who gives way to whom at a hub that is full, or at which one access key has many connections. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Admission } from '../../client/dist/admission.js';

function admissionOf(maxConnections: number, maxConnectionsPerKey = 4) {
  const admission = new Admission({ maxConnections, maxConnectionsPerKey });
  const did: string[] = [];
  const enter = (name: string, accessKey = name, isSilent = true) => {
    const guest = {
      ...{ accessKey, isSilent },
      hurry: () => did.push(`${name} hurries`),
      giveWay: () => did.push(`${name} gives way`),
      replace: () => did.push(`${name} is replaced`),
    };
    admission.enter(guest);
    return guest;
  };
  return { admission, did, enter };
}

test('the oldest silent connection of an access key gives way, and then the oldest', () => {
  const { did, enter } = admissionOf(100, 2);
  enter('a', 'k', false);
  enter('b', 'k');
  enter('c', 'k', false);
  enter('d', 'k', false);
  assert.equal(
    did.filter((what) => !what.includes('hurries')),
    ['b gives way', 'a gives way'],
  );
});

test('a connection hurries as soon as another one of its access key is not ready either', () => {
  const { did, enter } = admissionOf(100);
  enter('a');
  enter('b');
  assert.equal(did, []);
  enter('c', 'a');
  assert.equal(did, ['a hurries', 'c hurries']);
});

test('at a full hub one gives way of the access key that has most that are not ready', () => {
  const { admission, did, enter } = admissionOf(4);
  admission.ready(enter('ready'));
  enter('honest');
  enter('s1', 's');
  enter('s2', 's');
  did.length = 0;
  enter('new');
  assert.equal(did, ['s1 gives way']);
});

test('the newest connection of an access key that is ready stays, and has a place at a full hub', () => {
  const { admission, did, enter } = admissionOf(1);
  admission.ready(enter('older', 'k'));
  assert.equal([admission.hasPlace('k'), admission.hasPlace('other')], [true, false]);
  const newer = enter('newer', 'k');
  admission.ready(newer);
  assert.equal(did, ['older is replaced']);
  admission.leave(newer);
  admission.leave(newer);
  assert.ok(admission.hasPlace('other'));
});

test.run();
