import { createPrivateKey, createPublicKey } from 'node:crypto';
import { checkSignatures } from './signatures.js';
import { assertCertifies, compareCertificates, trustRootKey } from './server-certificate.js';
import { Curve, makeNoiseHandler, NOISE_WA_HEADER, proto, signedKeyPair, type KeyPair } from '@whiskeysockets/baileys';
import { SenderKeyMessage } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-message.js';
import libsignal from 'libsignal';
import { libsignalCurve } from './libsignal-curve.js';

checkSignatures();
compareCertificates();

const key5 = (key: Uint8Array): Buffer => Buffer.concat([Buffer.of(5), key]);

/** A bundle as the network hands it out, its signed pre-key signed by `signer`. */
function bundle(identity: KeyPair, signer: KeyPair): Parameters<libsignal.SessionBuilder['initOutgoing']>[0] {
  const signed = signedKeyPair(signer, 7);
  return {
    registrationId: 1,
    identityKey: key5(identity.public),
    signedPreKey: { keyId: 7, publicKey: key5(signed.keyPair.public), signature: Buffer.from(signed.signature) },
    preKey: { keyId: 9, publicKey: key5(Curve.generateKeyPair().public) },
  };
}

async function startSession(device: ReturnType<typeof bundle>): Promise<string[]> {
  const stored: string[] = [];
  const own = Curve.generateKeyPair();
  const storage = {
    isTrustedIdentity: () => true,
    loadSession: () => undefined,
    storeSession: (id: string) => void stored.push(id),
    getOurIdentity: () => ({ privKey: Buffer.from(own.private), pubKey: key5(own.public) }),
    getOurRegistrationId: () => 2,
  };
  const builder: libsignal.SessionBuilder = Reflect.construct(libsignal.SessionBuilder, [
    storage,
    new libsignal.ProtocolAddress('1', 0),
  ]);
  await builder.initOutgoing(device);
  return stored;
}

describe('key pairs', () => {
  it.each([
    ['Baileys', () => Curve.generateKeyPair()],
    [
      'libsignal',
      () => {
        const { pubKey, privKey } = libsignalCurve().generateKeyPair();
        expect([pubKey.length, pubKey[0]]).toEqual([33, 5]);
        return { public: pubKey.subarray(1), private: privKey };
      },
    ],
  ])('of %s are those of X25519, no two the same', (_whose, make) => {
    const seen = new Set<string>();
    for (let n = 0; n < 50; n += 1) {
      const pair = make();
      const [d, x] = [pair.private, pair.public].map((key) => Buffer.from(key).toString('base64url'));
      const jwk = { kty: 'OKP', crv: 'X25519', d, x };
      const derived = createPublicKey(createPrivateKey({ format: 'jwk', key: jwk })).export({ format: 'jwk' });
      expect(derived.x).toBe(x);
      seen.add(d ?? '');
    }
    expect(seen.size).toBe(50);
  });

  it('agree with each other on the same secret', () => {
    const [one, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
    expect(Curve.sharedKey(one.private, other.public)).toEqual(Curve.sharedKey(other.private, one.public));
  });
});

describe('signatures', () => {
  it('are checked by Baileys, and made so that Baileys accepts them', () => {
    const pair = Curve.generateKeyPair();
    const signature = Curve.sign(pair.private, Buffer.from('x'));
    expect(Curve.verify(pair.public, Buffer.from('x'), signature)).toBe(true);
    expect(Curve.verify(pair.public, Buffer.from('y'), signature)).toBe(false);
    expect(Curve.verify(pair.public, Buffer.from('x'), Buffer.alloc(64))).toBe(false);
    expect(Curve.verify(Buffer.alloc(5), Buffer.from('x'), signature)).toBe(false);
  });

  it('refuse a group message that another key signed', () => {
    const [sender, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
    const ciphertext = Buffer.from('ciphertext');
    const message = new SenderKeyMessage(1, 2, ciphertext, Buffer.from(other.private));
    const received = new SenderKeyMessage(null, null, null, null, message.serialize());
    expect(() => received.verifySignature(key5(other.public))).not.toThrow();
    expect(() => received.verifySignature(key5(sender.public))).toThrow('ignature');
  });

  it('refuse a key or signature of the wrong length', () => {
    const curve = libsignalCurve();
    const pair = Curve.generateKeyPair();
    const signature = Curve.sign(pair.private, Buffer.from('x'));
    expect(() => curve.verifySignature(pair.public, Buffer.from('x'), signature.subarray(1))).toThrow('signature');
    expect(() => curve.verifySignature(pair.public.slice(1), Buffer.from('x'), signature)).toThrow('public key');
    expect(() => curve.calculateSignature(pair.private.slice(1), Buffer.from('x'))).toThrow('private key');
  });

  it('start a session with a signed pre-key that the identity signed', async () => {
    const identity = Curve.generateKeyPair();
    await expect(startSession(bundle(identity, identity))).resolves.toEqual(['1.0']);
  });

  it('refuse a signed pre-key that somebody else signed', async () => {
    await expect(startSession(bundle(Curve.generateKeyPair(), Curve.generateKeyPair()))).rejects.toThrow('signature');
  });
});

/** Keys of a network and the hello its server would answer with, encrypted as the handshake asks. */
function serverHello(options: { signRoot: KeyPair; certifiedKey?: Uint8Array; forgeLeaf?: boolean }) {
  const ephemeral = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const { Details } = proto.CertChain.NoiseCertificate;
  const middle = Details.encode({ serial: 1, issuerSerial: 0, key: intermediate.public }).finish();
  const leaf = Details.encode({ serial: 2, issuerSerial: 1, key: options.certifiedKey ?? staticKey.public }).finish();
  const chain = {
    intermediate: { details: middle, signature: Curve.sign(options.signRoot.private, middle) },
    leaf: {
      details: leaf,
      signature: options.forgeLeaf ? Buffer.alloc(64, 1) : Curve.sign(intermediate.private, leaf),
    },
  };
  return { ephemeral, staticKey, chain: proto.CertChain.encode(chain).finish() };
}

const silent = {
  level: 'silent',
  child: () => silent,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Runs the client's half of the handshake against such a server. */
function handshake(hello: ReturnType<typeof serverHello>): Uint8Array {
  const client = Curve.generateKeyPair();
  const side = (keyPair: KeyPair) => makeNoiseHandler({ keyPair, NOISE_HEADER: NOISE_WA_HEADER, logger: silent });
  // The server walks through the same hash and key steps, as the client's handler would.
  const server = side(client);
  server.authenticate(hello.ephemeral.public);
  server.mixIntoKey(Curve.sharedKey(hello.ephemeral.private, client.public));
  const encryptedStatic = server.encrypt(hello.staticKey.public);
  server.mixIntoKey(Curve.sharedKey(hello.staticKey.private, client.public));
  const payload = server.encrypt(hello.chain);
  const message = { serverHello: { ephemeral: hello.ephemeral.public, static: encryptedStatic, payload } };
  return side(client).processHandshake(proto.HandshakeMessage.fromObject(message), Curve.generateKeyPair());
}

describe('server certificate', () => {
  const root = Curve.generateKeyPair();
  beforeEach(() => trustRootKey(Buffer.from(root.public)));

  it('is accepted when the root signed it for the key the server speaks with', () => {
    expect(handshake(serverHello({ signRoot: root })).length).toBeGreaterThan(0);
  });

  it('is refused when another root signed it', () => {
    expect(() => handshake(serverHello({ signRoot: Curve.generateKeyPair() }))).toThrow('signature invalid');
  });

  it('is refused when its leaf is forged', () => {
    expect(() => handshake(serverHello({ signRoot: root, forgeLeaf: true }))).toThrow('signature invalid');
  });

  it('is refused when it is for another key than the server speaks with', () => {
    const stolen = serverHello({ signRoot: root, certifiedKey: Curve.generateKeyPair().public });
    expect(() => handshake(stolen)).toThrow('another key');
  });

  it('is refused without a leaf to compare', () => {
    expect(() => assertCertifies({}, root.public)).toThrow('cannot be compared');
  });
});
