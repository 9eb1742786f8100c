import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FaultProxy } from './test-fault-proxy.js';

describe('FaultProxy', () => {
  /** What the server has received on all its connections. */
  let received = '';
  let server: Server;
  let proxy: FaultProxy;
  const clients: Socket[] = [];

  /** A client through the proxy, and all that it receives. */
  const open = async (port = new URL(proxy.url).port) => {
    const socket = connect(Number(port), '127.0.0.1');
    const client = { socket, answers: '' };
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => (client.answers += bytes.toString()));
    clients.push(socket);
    await once(socket, 'connect');
    return client;
  };
  const ended = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
  /** Sends a word and waits for its echo, so that everything before it has passed. */
  const echoed = async (client: Awaited<ReturnType<typeof open>>, word: string) => {
    client.socket.write(word);
    while (!client.answers.endsWith(word)) await once(client.socket, 'data');
  };

  beforeEach(async () => {
    received = '';
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString();
        server.emit('received');
        socket.write(bytes);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    proxy = await FaultProxy.to(`any://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/path?a=b`);
  });
  afterEach(async () => {
    await proxy.close().catch(() => undefined);
    for (const client of clients.splice(0)) client.destroy();
    server.close();
  });

  it('leads to the server by an address that differs in the port alone', async () => {
    expect(proxy.url).toMatch(/^any:\/\/user:secret@127\.0\.0\.1:\d+\/path\?a=b$/);
    await echoed(await open(), 'hello');
    expect(received).toBe('hello');
  });

  it('cuts what is open and lets new connections pass', async () => {
    const { socket } = await open();
    const gone = ended(socket);
    proxy.cut();
    await gone;
    await echoed(await open(), 'again');
  });

  it('refuses until it is restored', async () => {
    proxy.refuse();
    const refused = connect(Number(new URL(proxy.url).port), '127.0.0.1').on('error', () => undefined);
    await ended(refused);
    proxy.restore();
    await echoed(await open(), 'again');
    expect(received).toBe('again');
  });

  it('holds what is sent, on old connections and new ones, and lets it pass in order when restored', async () => {
    const old = await open();
    await echoed(old, 'before.');
    proxy.hold();
    const late = await open();
    old.socket.write('held.');
    late.socket.write('late.');
    // Past the proxy: what could have come by it meanwhile is there, too.
    await echoed(await open(String((server.address() as AddressInfo).port)), 'direct.');
    expect(received).toBe('before.direct.');
    proxy.restore();
    await echoed(old, 'after');
    await echoed(late, 'after');
    expect(old.answers).toBe('before.held.after');
    expect(late.answers).toBe('late.after');
  });

  it('silences what is connected for good, and nothing that connects later', async () => {
    const old = await open();
    await echoed(old, 'before');
    proxy.silence();
    old.socket.write('unheard');
    proxy.restore();
    await echoed(await open(), 'later');
    expect(received).toBe('beforelater');
    expect(old.answers).toBe('before');
  });

  it.each(['open connections', 'all'] as const)(
    'loses the answers of %s, while requests reach the server',
    async (on) => {
      const old = await open();
      await echoed(old, 'before');
      proxy.loseAnswers(on);
      const arrived = once(server, 'received');
      old.socket.write('lost');
      await arrived;
      const late = await open();
      if (on === 'open connections') await echoed(late, 'late');
      proxy.restore();
      await echoed(late, 'after');
      expect(received).toContain('lost');
      expect(old.answers).toBe('before');
    },
  );

  it('holds answers back once the server has given them', async () => {
    const client = await open();
    await echoed(client, 'before.');
    const held = proxy.holdAnswers();
    client.socket.write('request.');
    await held;
    expect(received).toBe('before.request.');
    expect(client.answers).toBe('before.');
    proxy.restore();
    await echoed(client, 'after');
    expect(client.answers).toBe('before.request.after');
  });

  it('breaks a connection once it has carried a number of bytes', async () => {
    const client = await open();
    await echoed(client, 'before');
    proxy.breakAfter(7);
    const gone = ended(client.socket);
    client.socket.write('12345');
    await gone;
    expect(client.answers).toMatch(/^before(12)?$/);
    proxy.breakAfter(undefined);
    await echoed(await open(), 'as much as one likes');
  });

  it('is away after it is closed, and back on the same port', async () => {
    const { url } = proxy;
    proxy.refuse();
    await proxy.close();
    const refused = connect(Number(new URL(url).port), '127.0.0.1');
    expect(await once(refused, 'error')).toEqual([expect.objectContaining({ code: 'ECONNREFUSED' })]);
    await proxy.reopen();
    expect(proxy.url).toBe(url);
    await echoed(await open(), 'back');
  });

  it('passes what a filter of each connection makes of it', async () => {
    await proxy.close();
    const filtered = await FaultProxy.to(`any://127.0.0.1:${(server.address() as AddressInfo).port}`, () => ({
      request: (bytes) => Buffer.from(bytes.toString().toUpperCase()),
      answer: (bytes) => Buffer.concat([bytes, Buffer.from('!')]),
    }));
    proxy = filtered;
    const client = await open();
    client.socket.write('hello');
    while (client.answers !== 'HELLO!') await once(client.socket, 'data');
  });

  it('slows down what is connected later: in order, each way its time, and what is lost the time until it is sent again', async () => {
    proxy.slowDown({ delayMs: 40, loss: 0.5 });
    const client = await open();
    const tookMs = async (word: string): Promise<number> => {
      const from = performance.now();
      await echoed(client, word);
      return performance.now() - from;
    };
    const plain = await tookMs('first');
    const lostBothWays = await tookMs('second');
    expect(plain).toBeGreaterThanOrEqual(79);
    expect(lostBothWays).toBeGreaterThanOrEqual(2 * (40 + 80 + 200) - 1);
    for (const word of ['third', 'fourth']) client.socket.write(word);
    await echoed(client, 'fifth');
    expect(received).toBe('firstsecondthirdfourthfifth');
    expect(client.answers).toBe(received);
    proxy.slowDown(undefined);
    await echoed(await open(), 'quick');
  });
});
