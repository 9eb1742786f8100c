/**
 * A linked device that costs almost nothing: the client library's own handshake and stanzas, and nothing above them (no
 * Signal, no stores). Thousands fit into one process, so that what is measured is the network and not its clients.
 */
import {
  type AuthenticationCreds,
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  encodeBinaryNode,
  generateLoginNode,
  generateRegistrationNode,
  getBinaryNodeChild,
  getBinaryNodeChildString,
  makeNoiseHandler,
  NOISE_WA_HEADER,
  proto,
} from '@whiskeysockets/baileys';
import { calculateSignature, generateKeyPair } from 'whatsapp-rust-bridge';
import { randomBytes } from 'node:crypto';
import WebSocket from 'ws';

const PRE_KEYS = 5;
const config = DEFAULT_CONNECTION_CONFIG;

/** The keys of a device, as the library's registration needs them. */
type Creds = Pick<
  AuthenticationCreds,
  'noiseKey' | 'signedIdentityKey' | 'signedPreKey' | 'registrationId' | 'advSecretKey'
>;

function newKeyPair(): { public: Buffer; private: Buffer } {
  const { pubKey, privKey } = generateKeyPair();
  // The library's handshake insists on Buffers.
  return { public: Buffer.from(pubKey.subarray(1)), private: Buffer.from(privKey) };
}

function newCreds(): Creds {
  const signedIdentityKey = newKeyPair();
  const keyPair = newKeyPair();
  const message = Buffer.concat([Buffer.from([5]), keyPair.public]);
  return {
    noiseKey: newKeyPair(),
    signedIdentityKey,
    signedPreKey: { keyId: 1, keyPair, signature: calculateSignature(signedIdentityKey.private, message) },
    registrationId: randomBytes(2).readUInt16BE() & 0x3fff,
    advSecretKey: randomBytes(32).toString('base64'),
  };
}

type Waiting = (node: BinaryNode) => boolean;

export class LightClient {
  readonly creds = newCreds();
  /** Messages that arrived so far. */
  received = 0;
  private socket: WebSocket | undefined;
  private send: (node: BinaryNode) => void = () => undefined;
  private readonly waiting = new Set<Waiting>();
  private lastId = 0;

  constructor(private readonly socketUrl: string) {}

  /** Our address, once linked. */
  jid = '';

  /** Shows a code, is scanned, and stays linked (not logged in). */
  async link(scan: (qr: string) => Promise<unknown>): Promise<void> {
    const offered = this.next(({ content }) => Array.isArray(content) && content[0]?.tag === 'pair-device');
    await this.open(proto.ClientPayload.encode(generateRegistrationNode(this.creds, config)).finish());
    const ref = getBinaryNodeChildString(getBinaryNodeChild(await offered, 'pair-device'), 'ref') ?? '';
    const keys = [this.creds.noiseKey.public, this.creds.signedIdentityKey.public].map((key) =>
      Buffer.from(key).toString('base64'),
    );
    const paired = this.next(({ content }) => Array.isArray(content) && content[0]?.tag === 'pair-success');
    const scanned = scan([ref, ...keys, this.creds.advSecretKey, '1'].join(','));
    this.send(this.signed(await paired));
    await scanned;
    this.socket?.terminate();
  }

  /** Our signature over the device certificate: what the library does, without its slow arithmetic. */
  private signed(offer: BinaryNode): BinaryNode {
    const success = getBinaryNodeChild(offer, 'pair-success');
    this.jid = getBinaryNodeChild(success, 'device')?.attrs['jid'] ?? '';
    const certificate = getBinaryNodeChild(success, 'device-identity')?.content as Uint8Array;
    const account = proto.ADVSignedDeviceIdentity.decode(
      proto.ADVSignedDeviceIdentityHMAC.decode(certificate).details ?? new Uint8Array(),
    );
    const { details, accountSignature, accountSignatureKey } = account;
    const { signedIdentityKey } = this.creds;
    const parts = [Buffer.from([6, 1]), details, signedIdentityKey.public, accountSignatureKey];
    const message = Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0)));
    const deviceSignature = calculateSignature(signedIdentityKey.private, message);
    const content = proto.ADVSignedDeviceIdentity.encode({ details, accountSignature, deviceSignature }).finish();
    const keyIndex = String(proto.ADVDeviceIdentity.decode(details ?? new Uint8Array()).keyIndex);
    const identity = { tag: 'device-identity', attrs: { 'key-index': keyIndex }, content };
    return {
      tag: 'iq',
      attrs: { to: '@s.whatsapp.net', type: 'result', id: offer.attrs['id'] ?? '' },
      content: [{ tag: 'pair-device-sign', attrs: {}, content: [identity] }],
    };
  }

  /** Logs in, uploads a few keys if the network has none, and receives the backlog. */
  async login(): Promise<void> {
    const success = this.next(({ tag }) => tag === 'success');
    await this.open(proto.ClientPayload.encode(generateLoginNode(this.jid, config)).finish());
    await success;
    const count = await this.query('get', 'encrypt', [{ tag: 'count', attrs: {} }]);
    if (getBinaryNodeChild(count, 'count')?.attrs['value'] === '0')
      await this.query('set', 'encrypt', this.keyUpload());
    const backlog = this.next(
      ({ tag, content }) => tag === 'ib' && Array.isArray(content) && content[0]?.tag === 'offline',
    );
    await this.query('set', 'passive', [{ tag: 'active', attrs: {} }]);
    await backlog;
  }

  /** Sends opaque bytes to one device and resolves with the network's acknowledgement. */
  async message(toJid: string, bytes: Uint8Array): Promise<void> {
    const id = `B${++this.lastId}-${this.creds.registrationId}`;
    const acknowledged = this.next(({ tag, attrs }) => tag === 'ack' && attrs['id'] === id);
    const enc = { tag: 'enc', attrs: { v: '2', type: 'msg' }, content: bytes };
    const to = toJid.replace(/:\d+/, '');
    const participants = [{ tag: 'to', attrs: { jid: toJid }, content: [enc] }];
    this.send({
      tag: 'message',
      attrs: { id, to, type: 'text' },
      content: [{ tag: 'participants', attrs: {}, content: participants }],
    });
    await acknowledged;
  }

  /** The library's keep-alive, which it sends every half minute; waits for the answer. */
  async keepAlive(): Promise<void> {
    await this.query('get', 'w:p', [{ tag: 'ping', attrs: {} }]);
  }

  close(): void {
    this.socket?.terminate();
  }

  private async query(type: string, xmlns: string, content: BinaryNode[]): Promise<BinaryNode> {
    const id = `q${++this.lastId}`;
    const answer = this.next(({ attrs }) => attrs['id'] === id);
    this.send({ tag: 'iq', attrs: { id, type, xmlns, to: '@s.whatsapp.net' }, content });
    return answer;
  }

  private keyUpload(): BinaryNode[] {
    const { signedIdentityKey, signedPreKey } = this.creds;
    const bigEndian = (value: number) => Uint8Array.from([value >> 16, value >> 8, value].map((byte) => byte & 0xff));
    const bytes = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content });
    const keys = Array.from({ length: PRE_KEYS }, (_, index): BinaryNode => {
      const content = [bytes('id', bigEndian(index + 1)), bytes('value', newKeyPair().public)];
      return { tag: 'key', attrs: {}, content };
    });
    const signed = [
      bytes('id', bigEndian(signedPreKey.keyId)),
      bytes('value', signedPreKey.keyPair.public),
      bytes('signature', signedPreKey.signature),
    ];
    return [
      bytes('identity', signedIdentityKey.public),
      { tag: 'list', attrs: {}, content: keys },
      { tag: 'skey', attrs: {}, content: signed },
    ];
  }

  private next(fits: (node: BinaryNode) => boolean): Promise<BinaryNode> {
    return new Promise((resolve) => {
      const look: Waiting = (node) => {
        if (!fits(node)) return false;
        resolve(node);
        return true;
      };
      this.waiting.add(look);
    });
  }

  private receive(node: BinaryNode): void {
    if (node.tag === 'message') {
      this.received++;
      this.send({ tag: 'receipt', attrs: { id: node.attrs['id'] ?? '', to: node.attrs['from'] ?? '' } });
    } else if (node.tag === 'receipt' || node.tag === 'notification') {
      const { id = '', from = '', type } = node.attrs;
      this.send({ tag: 'ack', attrs: { class: node.tag, id, to: from, ...(type !== undefined && { type }) } });
    }
    for (const look of this.waiting) if (look(node)) this.waiting.delete(look);
  }

  /** Opens a socket and goes through the handshake with this payload. */
  private open(payload: Uint8Array): Promise<void> {
    const ephemeral = newKeyPair();
    const noise = makeNoiseHandler({ keyPair: ephemeral, NOISE_HEADER: NOISE_WA_HEADER, logger: config.logger });
    const socket = new WebSocket(this.socketUrl, { perMessageDeflate: false });
    this.socket = socket;
    this.send = (node) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(noise.encodeFrame(encodeBinaryNode(node)));
    };
    let greeted = false;
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => {
        const clientHello = proto.HandshakeMessage.encode({ clientHello: { ephemeral: ephemeral.public } }).finish();
        socket.send(noise.encodeFrame(clientHello));
      });
      const frame = (data: Uint8Array | BinaryNode): void => {
        if (!(data instanceof Uint8Array)) {
          this.receive(data);
          return;
        }
        if (greeted) return;
        greeted = true;
        const finishKey = noise.processHandshake(proto.HandshakeMessage.decode(data), this.creds.noiseKey);
        const clientFinish = { static: finishKey, payload: noise.encrypt(payload) };
        socket.send(noise.encodeFrame(proto.HandshakeMessage.encode({ clientFinish }).finish()));
        void noise.finishInit();
        resolve();
      };
      socket.on('message', (bytes: Buffer) => void noise.decodeFrame(bytes, frame));
    });
  }
}
