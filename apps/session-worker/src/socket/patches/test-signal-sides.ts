import { Curve, generateSignalPubKey, signedKeyPair } from '@whiskeysockets/baileys';
import libsignal, { type SignalStorage } from 'libsignal';

const inBuffers = (pair: { public: Uint8Array; private: Uint8Array }) => ({
  pubKey: Buffer.from(generateSignalPubKey(pair.public)),
  privKey: Buffer.from(pair.private),
});

/** An encrypted message. */
export interface Sealed {
  type: number;
  body: Buffer;
}

/** One side of a conversation; its session is stored as the library serializes it. */
export class Side {
  private readonly identity = Curve.generateKeyPair();
  private readonly signed = signedKeyPair(this.identity, 1);
  private readonly once = Curve.generateKeyPair();
  stored: string | undefined;

  private readonly storage: SignalStorage = {
    loadSession: () => {
      const { stored } = this;
      if (stored === undefined) return Promise.resolve(undefined);
      return Promise.resolve(libsignal.SessionRecord.deserialize(JSON.parse(stored) as Uint8Array));
    },
    storeSession: (_, record) => {
      this.stored = JSON.stringify(record.serialize());
      return Promise.resolve();
    },
    isTrustedIdentity: () => true,
    loadPreKey: () => Promise.resolve(inBuffers(this.once)),
    removePreKey: () => undefined,
    loadSignedPreKey: () => inBuffers(this.signed.keyPair),
    getOurRegistrationId: () => 1,
    getOurIdentity: () => inBuffers(this.identity),
  };
  private readonly address: libsignal.ProtocolAddress;

  constructor(other: string) {
    this.address = new libsignal.ProtocolAddress(other, 0);
  }

  begin({ identity, signed, once }: Side): Promise<void> {
    return new libsignal.SessionBuilder(this.storage, this.address).initOutgoing({
      registrationId: 1,
      identityKey: generateSignalPubKey(identity.public),
      signedPreKey: {
        keyId: signed.keyId,
        publicKey: generateSignalPubKey(signed.keyPair.public),
        signature: signed.signature,
      },
      preKey: { keyId: 1, publicKey: generateSignalPubKey(once.public) },
    });
  }

  async encrypt(text: string): Promise<Sealed> {
    const { type, body } = await this.cipher().encrypt(Buffer.from(text));
    return { type, body: Buffer.from(body, 'binary') };
  }

  async decrypt({ type, body }: Sealed): Promise<string> {
    const cipher = this.cipher();
    const plain = await (type === 3 ? cipher.decryptPreKeyWhisperMessage(body) : cipher.decryptWhisperMessage(body));
    return plain.toString();
  }

  private cipher(): libsignal.SessionCipher {
    return new libsignal.SessionCipher(this.storage, this.address);
  }
}
