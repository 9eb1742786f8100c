import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WAMessageStubType } from '@whiskeysockets/baileys';
import { createGroup } from '../groups/group-members.js';
import { scanCode } from '../linking/pairing.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';
import type { ReadableStanza } from '../wire/readable-stanza.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const BOB = '6591110002';
const DAY_SECONDS = 86_400;
type Json = Record<string, unknown>;

describe('the control of the network as a whole', () => {
  let simulator: Simulator;
  let client: Client;

  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; json: Json }> => {
    const response = await fetch(simulator.control + path, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, json: (await response.json()) as Json };
  };

  beforeEach(async () => {
    simulator = await startSimulator();
    const { network } = simulator;
    const alice = network.accounts.add(ALICE, 'Alice');
    network.accounts.add(BOB, 'Bob');
    client = new Client(simulator);
    await client.link((qr) => scanCode(network, alice, qr));
  });
  afterEach(async () => {
    await client.end();
    await simulator.stop();
  });

  it('is empty after a reset, and goes on with the same keys', async () => {
    const { network } = simulator;
    await call('POST', `/phones/${BOB}/groups`, { subject: 'All', members: [ALICE] });
    await call('POST', '/faults', { kind: 'refuse-send' });
    await call('POST', '/clock', { seconds: 60 });
    const closed = client.closed();
    expect((await call('POST', '/reset')).json).toEqual({ phones: 2, groups: 1, connections: 1 });
    expect(await closed).toBe(401);
    for (const path of ['/phones', '/groups', '/faults', '/trace']) expect((await call('GET', path)).json).toEqual([]);
    expect((await call('GET', '/clock')).json).toMatchObject({ movedSeconds: 0 });
    expect((await call('GET', '/connections')).json).toEqual({ open: [], opened: 0, overlaps: 0, log: [] });
    expect((await call('GET', '/network')).json).toMatchObject({ rootKey: simulator.rootKey });
    // The same number is somebody else now, with a client of their own.
    const again = network.accounts.add(ALICE, 'Another');
    const other = new Client(simulator);
    await other.link((qr) => scanCode(network, again, qr));
    await call('POST', '/phones', { phone: BOB });
    await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'after the reset' });
    await other.text('after the reset');
    await other.end();
  });

  it('takes a phone off the network: its devices, its memberships, its number', async () => {
    const { json: group } = await call('POST', `/phones/${BOB}/groups`, { subject: 'All', members: [ALICE] });
    const closed = client.closed();
    expect(await call('DELETE', `/phones/${ALICE}`)).toEqual({ status: 200, json: { removed: ALICE } });
    expect(await closed).toBe(401);
    expect((await call('GET', `/phones/${ALICE}`)).status).toBe(404);
    expect((await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'gone?' })).status).toBe(404);
    const { json: left } = await call('GET', `/phones/${BOB}/groups`);
    expect(left).toMatchObject([{ id: group['id'], members: [{ phone: BOB }] }]);
    expect((await call('POST', '/phones', { phone: ALICE })).status).toBe(201);
  });

  it('ends a group: members are notified that they were removed', async () => {
    const { group } = createGroup(simulator.network, simulator.network.accounts.add('6591110003', 'Owner'), 'Over', [
      `${ALICE}@s.whatsapp.net`,
    ]);
    await client.until(
      () =>
        client
          .eventsOf('groups.upsert')
          .flat()
          .some(({ id }) => id === group.jid),
      'the group',
    );
    expect(await call('DELETE', `/groups/${group.jid}`)).toEqual({ status: 200, json: { removed: group.jid } });
    await client.until(
      () =>
        client.eventsOf('group-participants.update').some(({ id, action }) => id === group.jid && action === 'remove'),
      'the removal',
    );
    expect((await call('GET', '/groups')).json).toEqual([]);
    expect((await call('DELETE', `/groups/${group.jid}`)).status).toBe(404);
  });

  it('changes the number of a member: groups have the new one, and members are notified', async () => {
    const { json: group } = await call('POST', `/phones/${BOB}/groups`, { subject: 'All', members: [ALICE] });
    await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'from my old number' });
    await client.text('from my old number');
    expect((await call('POST', `/phones/${BOB}/change-number`, { phone: ALICE })).status).toBe(409);
    const changed = await call('POST', `/phones/${BOB}/change-number`, { phone: '+6591110022' });
    expect(changed.json).toMatchObject({ phone: '6591110022', name: 'Bob' });
    const notice = await client.message(
      ({ key, messageStubType }) =>
        key.remoteJid === group['id'] && messageStubType === WAMessageStubType.GROUP_PARTICIPANT_CHANGE_NUMBER,
      'the change of number',
    );
    expect(notice.messageStubParameters).toEqual([`${String(changed.json['lid'])}@lid`]);
    expect((await call('GET', '/groups')).json).toMatchObject([
      { members: [{ phone: '6591110022', role: 'superadmin' }, { phone: ALICE }] },
    ]);
    expect((await call('GET', `/phones/${BOB}`)).status).toBe(404);
    const { json: messages } = await call('GET', '/phones/6591110022/messages');
    expect(messages).toMatchObject([{ text: 'from my old number', from: '6591110022@s.whatsapp.net' }]);
    await call('POST', '/phones/6591110022/messages', { to: group['id'], text: 'from my new number' });
    await client.text('from my new number');
  });

  it('moves the clock: what is too old is refused, and the real time comes back', async () => {
    const { json: sent } = await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'draft' });
    const before = Date.now();
    const moved = await call('POST', '/clock', { seconds: 3600 });
    expect(moved).toMatchObject({ status: 200, json: { movedSeconds: 3600, unlinked: [], expiredFiles: 0 } });
    expect(Date.parse(String(moved.json['now']))).toBeGreaterThanOrEqual(before + 3_600_000);
    const edit = { to: ALICE, edit: { id: sent['id'], text: 'too late' } };
    expect((await call('POST', `/phones/${BOB}/messages`, edit)).status).toBe(403);
    await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'an hour later' });
    expect(Number((await client.text('an hour later')).messageTimestamp)).toBeGreaterThanOrEqual(
      Math.floor(before / 1000) + 3600,
    );
    const past = await call('POST', '/clock', { at: new Date(before).toISOString() });
    expect(past).toMatchObject({ status: 400, json: { error: expect.stringContaining('DELETE /clock') } });
    expect((await call('POST', '/clock', {})).status).toBe(400);
    expect((await call('DELETE', '/clock')).json).toMatchObject({ movedSeconds: 0 });
    expect((await call('POST', `/phones/${BOB}/messages`, edit)).status).toBe(201);
  });

  it('expires files after 14 days, and logs out the devices of a phone that nobody used', async () => {
    const { json: sent } = await call('POST', `/phones/${BOB}/messages`, {
      to: ALICE,
      document: { base64: Buffer.from('contents').toString('base64') },
    });
    const file = `/phones/${BOB}/messages/${String(sent['id'])}/file`;
    const used = await call('POST', '/clock', { seconds: 13 * DAY_SECONDS, phonesUsed: true });
    expect(used.json).toMatchObject({ unlinked: [], expiredFiles: 0 });
    expect((await fetch(simulator.control + file)).status).toBe(200);
    const closed = client.closed();
    const unused = await call('POST', '/clock', { seconds: 15 * DAY_SECONDS });
    expect(unused.json).toMatchObject({ unlinked: [{ phone: ALICE, device: 1 }], expiredFiles: 1 });
    expect(await closed).toBe(401);
    expect((await fetch(simulator.control + file)).status).toBeGreaterThanOrEqual(400);
  });

  it('logs out a device that was not connected for 30 days, and no other', async () => {
    const other = new Client(simulator);
    await other.link((qr) => call('POST', `/phones/${ALICE}/scan`, { qr }));
    const { connections } = simulator.network;
    const gone = new Promise<void>((resolve) => connections.watch(ALICE, resolve));
    await other.end();
    await gone;
    const month = await call('POST', '/clock', { seconds: 31 * DAY_SECONDS, phonesUsed: true });
    expect(month.json).toMatchObject({ unlinked: [{ phone: ALICE, device: 2 }] });
  });

  it('sends a stanza as a phone and as the server, and shows both in the trace, decrypted', async () => {
    await call('POST', `/phones/${BOB}/messages`, { to: ALICE, text: 'hello', id: 'TRACED1' });
    await client.text('hello');
    const typing = { tag: 'chatstate', attrs: { to: `${ALICE}@s.whatsapp.net` }, content: [{ tag: 'composing' }] };
    await client.socket.presenceSubscribe(`${BOB}@s.whatsapp.net`);
    expect((await call('POST', `/phones/${BOB}/stanzas`, typing)).status).toBe(202);
    await client.until(
      () =>
        client
          .eventsOf('presence.update')
          .some(({ presences }) =>
            Object.values(presences).some(({ lastKnownPresence }) => lastKnownPresence === 'composing'),
          ),
      'typing',
    );
    const hidden = {
      tag: 'message',
      attrs: { id: 'HIDDEN1', from: `${BOB}@s.whatsapp.net`, type: 'media', t: '1790000000' },
      content: [{ tag: 'unavailable', attrs: { type: 'view_once' } }],
    };
    const sent = await call('POST', `/phones/${ALICE}/devices/1/stanzas`, { stanza: hidden });
    expect(sent).toEqual({ status: 202, json: { id: 'HIDDEN1', online: true } });
    await client.message(({ key }) => key.id === 'HIDDEN1' && key.isViewOnce === true, 'the notice');

    const { json } = await call('GET', `/trace?phone=${ALICE}&device=1&tag=message`);
    type Traced = { seq: number; direction: string; stanza: ReadableStanza; message?: unknown };
    const traced = Object.values(json as Record<string, Traced>).filter(
      ({ stanza }) => stanza.attrs?.['category'] !== 'peer',
    );
    expect(traced.map(({ direction, stanza }) => [direction, stanza.attrs?.['id']])).toEqual([
      ['out', 'TRACED1'],
      ['out', 'HIDDEN1'],
    ]);
    expect(traced[0]?.message).toMatchObject({ conversation: 'hello' });
    expect(traced[1]?.stanza.content).toEqual([{ tag: 'unavailable', attrs: { type: 'view_once' } }]);
    expect((await call('POST', `/phones/${BOB}/stanzas`, { tag: 'iq' })).json).toEqual({
      error: 'tag: a phone sends message, receipt, chatstate, call here, not iq.',
    });
    expect((await call('GET', `/trace?phone=${ALICE}&limit=1`)).json).toHaveLength(1);
    const [first, second] = traced;
    const { json: later } = await call('GET', `/trace?phone=${ALICE}&tag=message&after=${first?.seq}`);
    const seqs = Object.values(later as Record<string, Traced>).map(({ seq }) => seq);
    expect([seqs.includes(first?.seq ?? 0), seqs.includes(second?.seq ?? 0)]).toEqual([false, true]);
  });
});

describe('a network on disk', () => {
  it('leaves nothing of phones, groups and files behind when it is reset or a phone is removed', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-reset-'));
    const simulator = await startSimulator({ dataDir });
    const { network, phones } = simulator;
    const [alice, bob] = [network.accounts.add(ALICE, 'Alice'), network.accounts.add(BOB, 'Bob')];
    createGroup(network, alice, 'All', [`${BOB}@s.whatsapp.net`]);
    await phones.of(bob).sendDraft(ALICE, { document: { bytes: Buffer.from('contents') } });
    await network.store.flush();
    expect((await readdir(join(dataDir, 'accounts'))).some((name) => name.startsWith(BOB))).toBe(true);
    await fetch(`${simulator.control}/phones/${BOB}`, { method: 'DELETE' });
    expect((await readdir(join(dataDir, 'accounts'))).some((name) => name.startsWith(BOB))).toBe(false);
    await fetch(`${simulator.control}/reset`, { method: 'POST' });
    await simulator.stop();
    expect((await readdir(dataDir)).sort()).toEqual(
      ['certificate.pem', 'clock.json', 'media.json', 'network.json', 'tls.json'].sort(),
    );
    const again = await startSimulator({ dataDir });
    expect(again.rootKey).toBe(simulator.rootKey);
    expect(again.network.accounts.size).toBe(0);
    await again.stop();
    await rm(dataDir, { recursive: true });
  });

  it('has the moved clock after a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-clock-'));
    const first = await startSimulator({ dataDir, now: () => 1_000 });
    first.network.clock.move(5_000);
    await first.stop();
    const second = await startSimulator({ dataDir, now: () => 2_000 });
    expect(second.network.now()).toBe(7_000);
    await second.stop();
    await rm(dataDir, { recursive: true });
  });
});
