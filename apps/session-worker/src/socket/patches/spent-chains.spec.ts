import { Curve, generateSignalPubKey, signedKeyPair } from '@whiskeysockets/baileys';
import libsignal, { type SignalStorage } from 'libsignal';
import { CLOSED_CHAINS_KEPT, removeSpentChains, SPENT_CHAINS_KEPT } from './spent-chains.js';

removeSpentChains();

const inBuffers = (pair: { public: Uint8Array; private: Uint8Array }) => ({
  pubKey: Buffer.from(generateSignalPubKey(pair.public)),
  privKey: Buffer.from(pair.private),
});

interface Sealed {
  type: number;
  body: Buffer;
}

/** One side of a conversation; its session is stored as the library serializes it. */
class Side {
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

async function newConversation() {
  const us = new Side('them');
  const them = new Side('us');
  await us.begin(them);
  const first = await us.encrypt('the first');
  await them.decrypt(first);
  return {
    us,
    them,
    first,
    /** A message each way; both are read. */
    turns: async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        expect(await us.decrypt(await them.encrypt(`question ${turn}`))).toBe(`question ${turn}`);
        expect(await them.decrypt(await us.encrypt(`answer ${turn}`))).toBe(`answer ${turn}`);
      }
    },
  };
}

describe('removeSpentChains', () => {
  it('keeps the session of a conversation as small as it was after its first turns, on both sides', async () => {
    const { us, them, turns } = await newConversation();
    await turns(SPENT_CHAINS_KEPT + 1);
    const before = [us, them].map(({ stored = '' }) => stored.length);
    await turns(50);
    const grown = [us, them].map(({ stored = '' }, side) => stored.length - (before[side] ?? 0));
    expect(grown.every((bytes) => Math.abs(bytes) < 20)).toBe(true);
  });

  it('leaves a message that was overtaken readable for many turns', async () => {
    const { us, them, turns } = await newConversation();
    const late = await them.encrypt('late');
    await turns(CLOSED_CHAINS_KEPT - 1);
    expect(await us.decrypt(late)).toBe('late');
  });

  it('bounds what those who overtake themselves in every turn leave behind', async () => {
    const { us, them, turns } = await newConversation();
    const skipOneEach = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        await them.encrypt('never arrives');
        await turns(1);
      }
    };
    await skipOneEach(CLOSED_CHAINS_KEPT + 1);
    const before = us.stored?.length ?? 0;
    await skipOneEach(20);
    expect(Math.abs((us.stored?.length ?? 0) - before)).toBeLessThan(20);
  });

  it('still knows the first message of a conversation when it is delivered again some turns later', async () => {
    const { us, them, first, turns } = await newConversation();
    await turns(SPENT_CHAINS_KEPT);
    await expect(them.decrypt(first)).rejects.toThrow('Key used already or never filled');
    expect(await us.decrypt(await them.encrypt('goes on'))).toBe('goes on');
  });
});
