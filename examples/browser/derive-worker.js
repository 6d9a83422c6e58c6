/** The worker of `derive.js`. It needs BLAKE2b only, so a bundler leaves the rest of noble out. */
import { derivePsk } from 'hub-protocol';
import { nobleBlake2b as blake2b } from 'hub-protocol/noble';

self.onmessage = ({ data: { password, salt } }) => {
  const onProgress = (progress) => self.postMessage({ progress });
  self.postMessage({ psk: derivePsk({ crypto: { blake2b }, password, salt, onProgress }) });
};
