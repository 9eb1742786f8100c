import { AsyncLocalStorage } from 'node:async_hooks';
import libsignal, { type SignalStorage } from 'libsignal';
import { keepContextInLibsignalQueue } from './libsignal-queue.js';

keepContextInLibsignalQueue();

describe('keepContextInLibsignalQueue', () => {
  it('lets each of those who queue for one address work in its own context', async () => {
    const channel = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const keys = { pubKey: Buffer.alloc(33), privKey: Buffer.alloc(32) };
    const storage: SignalStorage = {
      loadSession: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(channel.getStore());
        return undefined;
      },
      storeSession: () => Promise.resolve(),
      isTrustedIdentity: () => true,
      loadPreKey: () => Promise.resolve(undefined),
      removePreKey: () => undefined,
      loadSignedPreKey: () => keys,
      getOurRegistrationId: () => 1,
      getOurIdentity: () => keys,
    };
    const cipher = new libsignal.SessionCipher(storage, new libsignal.ProtocolAddress('900000000001_1', 0));
    const decrypt = (name: string) =>
      channel.run(name, () => cipher.decryptWhisperMessage(Buffer.alloc(1)).catch((error: Error) => error.message));
    expect(await Promise.all(['one', 'another'].map(decrypt))).toEqual(['No session record', 'No session record']);
    expect(seen).toEqual(['one', 'another']);
  });
});
