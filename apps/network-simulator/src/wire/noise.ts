import { createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { agree, newKeyPair, type KeyPair } from './keys.js';

/** The four bytes a client opens with: `WA`, protocol version 6, dictionary version 3. */
export const INTRO = Buffer.from([0x57, 0x41, 6, 3]);
const PATTERN = Buffer.from('Noise_XX_25519_AESGCM_SHA256\0\0\0\0');
const TAG_BYTES = 16;

/** What the client showed in its last handshake message: its static key and the login or registration payload. */
export interface ClientHelloResult {
  clientStatic: Buffer;
  payload: proto.IClientPayload;
  transport: NoiseTransport;
}

/** The responder's side of Noise XX as the network uses it: the pattern's name is exactly 32 bytes, so it is not hashed. */
export class NoiseHandshake {
  private hash: Buffer = PATTERN;
  private salt: Buffer = PATTERN;
  private key: Buffer = PATTERN;
  private counter = 0;
  private readonly ephemeral = newKeyPair();

  constructor(
    private readonly noise: KeyPair,
    private readonly certificates: Uint8Array,
  ) {
    this.mixHash(INTRO);
  }

  /** Answers the client's first message; returns the frame to send. Throws when the message is not a client hello. */
  serverHello(frame: Buffer): Uint8Array {
    const clientEphemeral = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
    if (clientEphemeral?.length !== 32) throw new Error('The first handshake message carries no ephemeral key.');
    this.mixHash(clientEphemeral);
    this.mixHash(this.ephemeral.public);
    this.mixKey(agree(clientEphemeral, this.ephemeral.private));
    const encryptedStatic = this.encrypt(this.noise.public);
    this.mixKey(agree(clientEphemeral, this.noise.private));
    const payload = this.encrypt(this.certificates);
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.ephemeral.public, static: encryptedStatic, payload },
    }).finish();
  }

  /** Reads the client's last message. Throws when it does not decrypt. */
  clientFinish(frame: Buffer): ClientHelloResult {
    const finish = proto.HandshakeMessage.decode(frame).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error('The last handshake message is incomplete.');
    const clientStatic = this.decrypt(finish.static);
    this.mixKey(agree(clientStatic, this.ephemeral.private));
    const payload = proto.ClientPayload.decode(this.decrypt(finish.payload));
    const [fromClient, toClient] = this.expand(Buffer.alloc(0));
    return { clientStatic, payload, transport: new NoiseTransport(fromClient, toClient) };
  }

  private mixHash(data: Uint8Array): void {
    this.hash = createHash('sha256').update(this.hash).update(data).digest();
  }

  private mixKey(secret: Buffer): void {
    [this.salt, this.key] = this.expand(secret);
    this.counter = 0;
  }

  private expand(secret: Buffer): [Buffer, Buffer] {
    const extracted = createHmac('sha256', this.salt).update(secret).digest();
    const first = createHmac('sha256', extracted)
      .update(Buffer.from([1]))
      .digest();
    const second = createHmac('sha256', extracted)
      .update(first)
      .update(Buffer.from([2]))
      .digest();
    return [first, second];
  }

  private encrypt(plain: Uint8Array): Buffer {
    const sealed = seal(this.key, this.counter++, plain, this.hash);
    this.mixHash(sealed);
    return sealed;
  }

  private decrypt(sealed: Uint8Array): Buffer {
    const plain = open(this.key, this.counter++, sealed, this.hash);
    this.mixHash(sealed);
    return plain;
  }
}

/** The two one-way ciphers after the handshake; each counts its own frames from 0. */
export class NoiseTransport {
  private sent = 0;
  private received = 0;
  private readonly fromClient: KeyObject;
  private readonly toClient: KeyObject;

  constructor(fromClient: Buffer, toClient: Buffer) {
    this.fromClient = createSecretKey(fromClient); // made once: Node 24 takes twice as long for a frame with the bytes
    this.toClient = createSecretKey(toClient);
  }

  encrypt(plain: Uint8Array): Buffer {
    return seal(this.toClient, this.sent++, plain);
  }

  decrypt(sealed: Buffer): Buffer {
    return open(this.fromClient, this.received++, sealed);
  }
}

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

function seal(key: Buffer | KeyObject, counter: number, plain: Uint8Array, associated?: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter));
  if (associated) cipher.setAAD(associated);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer | KeyObject, counter: number, sealed: Uint8Array, associated?: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce(counter));
  if (associated) decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
}
