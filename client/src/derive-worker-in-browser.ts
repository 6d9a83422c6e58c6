/** The worker of `derive-in-browser.ts`. It needs only BLAKE2b, so a bundler leaves out the rest of noble. */
import { derivePsk } from 'hub-protocol';
import { nobleBlake2b as blake2b } from 'hub-protocol/noble';

self.onmessage = ({ data }: { data: { password: string; salt: Uint8Array } }) => {
  const onProgress = (progress: number): void => self.postMessage({ progress });
  self.postMessage({ progress: 1, psk: derivePsk({ crypto: { blake2b }, ...data, onProgress }) });
};
