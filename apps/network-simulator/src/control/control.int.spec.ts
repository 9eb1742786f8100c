import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toBuffer } from 'qrcode';
import { mediaThrough } from '../scenarios/loopback-media.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('the control API', () => {
  let simulator: Simulator;
  let client: Client;
  let phone: string;
  let friend: string;

  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; json: Json }> => {
    const response = await fetch(simulator.control + path, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    return { status: response.status, json: (await response.json()) as Json };
  };
  type Json = Record<string, unknown> & { id?: string };
  let uploadToken: string;

  beforeAll(async () => {
    simulator = await startSimulator();
    phone = String((await call('POST', '/phones', { name: 'Alice' })).json['phone']);
    friend = String((await call('POST', '/phones', { phone: '+6591110002' })).json['phone']);
    uploadToken = simulator.network.media.uploadToken(phone);
    client = new Client(simulator, mediaThrough(simulator));
    await client.link((qr) => call('POST', `/phones/${phone}/scan`, { qr }));
  });

  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  it('returns the address of the network', async () => {
    expect(await call('GET', '/health')).toEqual({ status: 200, json: { ok: true } });
    expect((await call('GET', '/network')).json).toEqual({
      socketUrl: simulator.socketUrl,
      rootKey: simulator.rootKey,
    });
  });

  it('shows a phone with its devices', async () => {
    const { json } = await call('GET', `/phones/${phone}`);
    expect(json).toMatchObject({ phone, name: 'Alice', devices: [{ device: 1, online: true }] });
  });

  it('links a new phone to the client that shows the code', async () => {
    const other = new Client(simulator);
    await other.link(async (qr) => {
      expect((await call('POST', '/admin/mock-phone/scan-qr', qr)).json).toMatchObject({ device: 1 });
    });
    await other.end();
  });

  it('sends as a phone, waits for what a phone gets, and reads', async () => {
    const { json } = await call('POST', `/phones/${friend}/messages`, { to: phone, text: 'hi', id: 'CHOSEN1' });
    expect(json).toEqual({ id: 'CHOSEN1' });
    await client.text('hi');
    const sent = await client.send(`${friend}@s.whatsapp.net`, { text: 'hi back' });
    const waited = await call('POST', `/phones/${friend}/messages/wait`, {
      text: 'hi back',
      fromMe: false,
      timeoutMs: 4000,
    });
    expect(waited).toMatchObject({
      status: 200,
      json: { id: sent.key.id, chat: `${phone}@s.whatsapp.net`, deliveries: 1 },
    });
    expect((await call('POST', `/phones/${friend}/read`, { chat: phone })).json).toEqual({ ids: [sent.key.id] });
    await client.status(sent.key.id ?? '', 4);
    const late = await call('POST', `/phones/${friend}/messages/wait`, { text: 'never', timeoutMs: 20 });
    expect(late.status).toBe(408);
  });

  it('answers mistakes with one sentence', async () => {
    expect(await call('GET', '/phones/123')).toMatchObject({ status: 404, json: { error: 'There is no phone 123.' } });
    expect((await call('POST', `/phones/${phone}/messages`, { to: '999', text: 'x' })).status).toBe(404);
    expect((await call('POST', `/phones/${phone}/messages`, { text: 'x' })).status).toBe(400);
    expect((await call('POST', '/phones', { phone })).status).toBe(409);
    expect((await call('POST', '/faults', { kind: 'nonsense' })).status).toBe(400);
    expect((await call('GET', '/nothing')).status).toBe(404);
  });

  it('refuses the next send, and only that', async () => {
    await call('POST', '/faults', { kind: 'refuse-send', phone, code: 479 });
    const refused = acked(client);
    await client.send(`${friend}@s.whatsapp.net`, { text: 'refused' });
    expect((await refused)['error']).toBe('479');
    const accepted = acked(client);
    await client.send(`${friend}@s.whatsapp.net`, { text: 'accepted' });
    expect((await accepted)['error']).toBeUndefined();
    expect((await call('GET', `/phones/${friend}/messages?text=refused`)).json).toEqual([]);
  });

  it('holds acknowledgements until the fault is taken back', async () => {
    const { json } = await call('POST', '/faults', { kind: 'hold-acks', phone });
    let done = false;
    const ack = acked(client).then((attrs) => {
      done = true;
      return attrs;
    });
    const sent = await client.send(`${friend}@s.whatsapp.net`, { text: 'held' });
    await call('POST', `/phones/${friend}/messages/wait`, { text: 'held' });
    expect(done).toBe(false);
    await call('DELETE', `/faults/${json.id}`);
    expect((await ack)['id']).toBe(sent.key.id);
  });

  it('delays acknowledgements by the time it is given', async () => {
    await call('POST', '/faults', { kind: 'delay-acks', phone, ms: 400, count: 1 });
    const started = performance.now();
    const ack = acked(client);
    const sent = await client.send(`${friend}@s.whatsapp.net`, { text: 'acknowledged late' });
    expect((await ack)['id']).toBe(sent.key.id);
    expect(performance.now() - started).toBeGreaterThanOrEqual(395);
    expect((await fetch(`${simulator.control}/faults`).then((response) => response.json())) as Json[]).toEqual([]);
  });

  it('breaks the next transfer of a file off, and only that', async () => {
    const bytes = Buffer.alloc(100_000, 7);
    const uploaded = await fetch(`${simulator.control}/mms/image/hash?auth=${uploadToken}`, {
      method: 'POST',
      body: bytes,
    });
    const { direct_path: path } = (await uploaded.json()) as { direct_path: string };
    const transfer = () => fetch(simulator.control + path).then((response) => response.arrayBuffer());
    await call('POST', '/faults', { kind: 'break-media', count: 1 });
    await expect(transfer()).rejects.toBeDefined();
    expect((await transfer()).byteLength).toBe(100_000);
  });

  it('makes a number unknown and known again', async () => {
    const { json } = await call('POST', '/faults', { kind: 'make-unknown', phone: friend });
    expect(await client.socket.onWhatsApp(friend)).toEqual([]);
    await call('DELETE', `/faults/${json.id}`);
    expect(await client.socket.onWhatsApp(friend)).toMatchObject([{ exists: true }]);
  });

  it('lets files expire, one or all', async () => {
    const upload = async () => {
      const answer = await fetch(`${simulator.control}/mms/image/hash?auth=${uploadToken}`, {
        method: 'POST',
        body: Buffer.alloc(100, 7),
      });
      return ((await answer.json()) as { direct_path: string }).direct_path;
    };
    const [first, second] = [await upload(), await upload()];
    const status = async (path: string) => (await fetch(simulator.control + path)).status;
    expect((await call('POST', '/faults', { kind: 'expire-media', directPath: first, code: 404 })).json).toEqual({
      expired: 1,
    });
    expect([await status(first), await status(second)]).toEqual([404, 200]);
    await call('POST', '/faults', { kind: 'expire-media' });
    expect([await status(first), await status(second)]).toEqual([410, 410]);
    expect((await call('POST', '/faults', { kind: 'expire-media', directPath: '/v/nothing' })).json).toEqual({
      expired: 0,
    });
  });

  it('a phone types, records, opens the app, and changes its profile, and a client sees it', async () => {
    await client.socket.presenceSubscribe(`${friend}@s.whatsapp.net`);
    const seen = (state: string) =>
      client.until(
        () =>
          client
            .eventsOf('presence.update')
            .some(({ presences }) => Object.values(presences).some((one) => one.lastKnownPresence === state)),
        state,
      );
    await call('POST', `/phones/${friend}/presence`, { available: true });
    await seen('available');
    await call('POST', `/phones/${friend}/typing`, { to: phone, state: 'composing' });
    await seen('composing');
    await call('POST', `/phones/${friend}/typing`, { to: phone, state: 'recording' });
    await seen('recording');
    expect((await call('POST', `/phones/${friend}/profile`, { name: 'Fred', about: 'Away' })).json).toEqual({
      phone: friend,
      name: 'Fred',
      about: 'Away',
    });
    expect(await client.socket.fetchStatus(`${friend}@s.whatsapp.net`)).toMatchObject([{ status: { status: 'Away' } }]);
    await call('POST', `/phones/${friend}/messages`, { to: phone, text: 'under a new name' });
    expect((await client.text('under a new name')).pushName).toBe('Fred');
  });

  it('a phone plays a voice message, and the client that sent it sees that', async () => {
    const bytes = Buffer.alloc(200, 3).toString('base64');
    const { json } = await call('POST', `/phones/${friend}/messages`, { to: phone, voice: { base64: bytes } });
    const voice = await client.message(
      ({ key, message }) => key.id === json.id && Boolean(message),
      'the voice message',
    );
    const forwarded = await client.send(`${friend}@s.whatsapp.net`, { forward: voice });
    await call('POST', `/phones/${friend}/messages/wait`, { id: forwarded.key.id, type: 'voice' });
    expect((await call('POST', `/phones/${friend}/play`, { chat: phone })).json).toEqual({ ids: [forwarded.key.id] });
    await client.status(forwarded.key.id ?? '', 5);
  });

  it('links by the address of the picture of a code, and names what is wrong with one that holds none', async () => {
    const other = new Client(simulator);
    const code = await other.code();
    let picture: Uint8Array = Buffer.from('no picture');
    const host = createServer((_request, response) => response.end(picture));
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/users/login/image`;
    expect(await call('POST', `/phones/${friend}/scan`, { url })).toMatchObject({ status: 422 });
    picture = await toBuffer('the address of a shop');
    expect(await call('POST', `/phones/${friend}/scan`, { url })).toMatchObject({ status: 400 });
    picture = await toBuffer(code, { errorCorrectionLevel: 'L' });
    const closed = other.closed();
    expect(await call('POST', `/phones/${friend}/scan`, { url })).toEqual({ status: 200, json: { device: 1 } });
    expect(await closed).toBe(515);
    await other.connect();
    await other.end();
    host.close();
    expect(await call('POST', `/phones/${friend}/scan`, { url })).toMatchObject({ status: 422 });
    await call('DELETE', `/phones/${friend}/devices/1`);
  });

  it('bans a number that is connected, of which its client is notified, and accepts it again', async () => {
    const closed = client.closed();
    const { json } = await call('POST', '/faults', { kind: 'ban', phone });
    expect(await closed).toBe(403);
    await expect(client.connect()).rejects.toMatchObject({ output: { statusCode: 403 } });
    expect((await call('GET', '/faults')).json).toMatchObject([{ kind: 'ban', phone }]);
    await call('DELETE', `/faults/${json.id}`);
    expect((await call('DELETE', `/faults/${json.id}`)).status).toBe(404);
    await client.connect();
  });

  it('drops a stream with an error, and refuses the next connection', async () => {
    const closed = client.closed();
    expect((await call('POST', '/faults', { kind: 'drop', phone, code: 503 })).json).toEqual({ dropped: 1 });
    expect(await closed).toBe(503);
    await call('POST', '/faults', { kind: 'refuse-connection', phone, code: 500 });
    await expect(client.connect()).rejects.toMatchObject({ output: { statusCode: 500 } });
    await client.connect();
    const { json } = await call('GET', '/connections');
    expect(json).toMatchObject({ overlaps: 0, open: [{ phone, device: 1 }] });
  });

  it('unlinks a device', async () => {
    const closed = client.closed();
    expect((await call('DELETE', `/phones/${phone}/devices/1`)).status).toBe(200);
    expect(await closed).toBe(401);
    expect((await call('DELETE', `/phones/${phone}/devices/1`)).status).toBe(404);
  });
});

/** The attributes of the next acknowledgement of a message. */
function acked(client: Client): Promise<Record<string, string>> {
  return new Promise((resolve) => {
    client.socket.ws.once('CB:ack,class:message', (ack: { attrs: Record<string, string> }) => resolve(ack.attrs));
  });
}
