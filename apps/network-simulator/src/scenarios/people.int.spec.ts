import sharp from 'sharp';
import { hangUp, ring } from '../delivery/calls.js';
import { enterCode } from '../linking/pairing-by-code.js';
import { scanCode } from '../linking/pairing.js';
import { setOwnPicture } from '../delivery/own-picture.js';
import { setAbout, setPrivacy } from '../delivery/own-settings.js';
import { sendTyping, setPhoneAvailable, typingNode } from '../delivery/presence.js';
import { createGroup } from '../groups/group-members.js';
import { setGroupPicture } from '../groups/group-picture.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { child, children, textOf, type Node } from '../wire/node.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001@s.whatsapp.net';
const BOB = '6591110002@s.whatsapp.net';

describe('people: presence, profiles, numbers, calls', () => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let client: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator, mediaThrough(simulator));
    await client.link((qr) => scanCode(network, alice.account, qr));
    await client.until(() => client.auth.creds.me?.name === 'Alice', 'the name');
  }, 120_000);

  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  const presence = (state: string) =>
    client.until(
      () =>
        client
          .eventsOf('presence.update')
          .some(({ presences }) => Object.values(presences).some((p) => p.lastKnownPresence === state)),
      state,
    );

  it('who is searched by number is named with the number that was typed, in bytes, also who is absent', async () => {
    const search = async (attrs: Record<string, string>) => {
      const contact = (content: string) => ({
        tag: 'user',
        attrs: {},
        content: [{ tag: 'contact', attrs: {}, content }],
      });
      const answer = (await client.socket.query({
        tag: 'iq',
        attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'usync' },
        content: [
          {
            tag: 'usync',
            attrs: { sid: '1', mode: 'query', context: 'interactive', last: 'true', index: '0' },
            content: [
              { tag: 'query', attrs: {}, content: [{ tag: 'contact', attrs }] },
              { tag: 'list', attrs: {}, content: [contact('6591110002'), contact('+65 9000 0000')] },
            ],
          },
        ],
      })) as Node;
      return children(child(child(answer, 'usync'), 'list'), 'user').map((user) => ({
        jid: user.attrs['jid'],
        type: child(user, 'contact')?.attrs['type'],
        query: textOf(child(user, 'contact')),
        isBytes: child(user, 'contact')?.content instanceof Uint8Array,
      }));
    };
    expect(await search({})).toEqual([
      { jid: BOB, type: 'in', query: '6591110002', isBytes: true },
      { jid: '6590000000@s.whatsapp.net', type: 'out', query: '+65 9000 0000', isBytes: true },
    ]);
    expect((await search({ addressing_mode: 'lid' })).map(({ jid }) => jid)).toEqual([
      bob.account.lidJid,
      '6590000000@s.whatsapp.net',
    ]);
  });

  it('a client sees who is there and who types, and is seen', async () => {
    const { network } = simulator;
    await client.socket.presenceSubscribe(BOB);
    await presence('unavailable');
    setPhoneAvailable(network, bob.account, true);
    await presence('available');
    sendTyping(network, { account: bob.account, device: 0 }, ALICE, typingNode('composing'));
    await presence('composing');
    sendTyping(network, { account: bob.account, device: 0 }, ALICE, typingNode('recording'));
    await presence('recording');
    await client.socket.sendPresenceUpdate('composing', BOB);
    expect(await bob.events.wait({ kind: 'typing', what: 'composing' }, 8000)).toMatchObject({ from: ALICE });
    await client.socket.sendPresenceUpdate('recording', BOB);
    expect(await bob.events.wait({ kind: 'typing', what: 'recording' }, 8000)).toBeDefined();
    const { group } = createGroup(network, alice.account, 'Typing', [BOB]);
    await client.socket.sendPresenceUpdate('composing', group.jid);
    expect(await bob.events.wait({ kind: 'typing', chat: group.jid }, 8000)).toBeDefined();
  });

  it('a phone notices that somebody comes and goes with whom it has a chat, and of nobody else', async () => {
    const { network, phones } = simulator;
    const [carol, eve] = [phones.of(network.accounts.add()), phones.of(network.accounts.add())];
    const noticed = (phone: Phone) => phone.events.all({ kind: 'presence' }).map(({ what, from }) => `${what} ${from}`);
    setPhoneAvailable(network, carol.account, true);
    expect(noticed(bob)).not.toContain(`available ${carol.account.phoneJid}`);
    await bob.sendText(carol.account.phone, 'hello carol');
    for (const available of [false, true]) setPhoneAvailable(network, carol.account, available);
    const ofCarol = noticed(bob).filter((text) => text.endsWith(carol.account.phoneJid));
    expect(ofCarol).toEqual([`unavailable ${carol.account.phoneJid}`, `available ${carol.account.phoneJid}`]);
    expect([noticed(eve), noticed(carol)]).toEqual([[], []]);
  });

  it('numbers are found as people type them and named as the network knows them', async () => {
    const { accounts } = simulator.network;
    for (const phone of ['553188887777', '5511977776666', '5215512345678', '5491123456789']) accounts.add(phone);
    const known = async (typed: string) => (await client.socket.onWhatsApp(typed))?.[0]?.jid;
    expect(await known('+5531988887777')).toBe('553188887777@s.whatsapp.net');
    expect(await known('5511977776666')).toBe('5511977776666@s.whatsapp.net');
    expect(await known('525512345678')).toBe('5215512345678@s.whatsapp.net');
    expect(await known('541123456789')).toBe('5491123456789@s.whatsapp.net');
    expect(await client.socket.onWhatsApp('6590000000')).toEqual([]);
  });

  it('who keeps the number private is known by private id alone, until a message is sent under the number', async () => {
    const { network, phones } = simulator;
    const dan = phones.of(network.accounts.add('6591110009', 'Dan'));
    dan.account.state.privacy['number'] = 'none';
    await dan.sendText(alice.account.lidJid, 'guess who');
    const { key } = await client.text('guess who');
    expect(key.remoteJid).toBe(dan.account.lidJid);
    expect(key.remoteJidAlt).toBeUndefined();
    const { group } = createGroup(network, bob.account, 'Both', [ALICE, dan.account.phoneJid]);
    const { participants } = await client.socket.groupMetadata(group.jid);
    const named = (lid: string) => participants.find(({ id }) => id === lid)?.phoneNumber;
    expect([named(dan.account.lidJid), named(bob.account.lidJid)]).toEqual([undefined, BOB]);
    await dan.sendText(ALICE, 'it is me');
    const message = await client.text('it is me');
    expect([message.key.remoteJid, message.key.remoteJidAlt]).toEqual([dan.account.phoneJid, dan.account.lidJid]);
  });

  /** The first content of the next notice of a type that a client gets. */
  const noticeOf = (of: Client, type: string, fits: (what: Node) => boolean) =>
    new Promise<Node>((resolve) => {
      of.socket.ws.on(`CB:notification,type:${type}`, ({ content }: Node) => {
        for (const what of Array.isArray(content) ? content : []) if (fits(what)) resolve(what);
      });
    });

  it('own devices are notified of privacy settings and of who is blocked, with the hash that the list has', async () => {
    const second = new Client(simulator, mediaThrough(simulator));
    await second.link((qr) => scanCode(simulator.network, alice.account, qr));
    const privacy = noticeOf(client, 'account_sync', ({ tag }) => tag === 'privacy');
    await second.socket.updateLastSeenPrivacy('contacts');
    expect(children(await privacy, 'category').map(({ attrs }) => attrs)).toEqual([
      { name: 'last', value: 'contacts' },
    ]);
    const blocked = noticeOf(client, 'account_sync', ({ tag }) => tag === 'blocklist');
    await second.socket.updateBlockStatus(BOB, 'block');
    const { attrs } = await blocked;
    const list = (await client.socket.query({
      tag: 'iq',
      attrs: { xmlns: 'blocklist', to: '@s.whatsapp.net', type: 'get' },
    })) as Node;
    expect(child(list, 'list')?.attrs['dhash']).toBe(attrs['dhash']);
    expect(attrs['dhash']).not.toBe(attrs['prev_dhash']);
    await second.socket.updateBlockStatus(BOB, 'unblock');
    await second.socket.updateLastSeenPrivacy('all');
    await second.end();
  });

  it('who knows a person is notified of the text about them, set by either query, unless it is hidden', async () => {
    await client.send(BOB, { text: 'we know each other' });
    const own = noticeOf(client, 'status', (what) => textOf(what) === 'Set in GraphQL');
    await client.socket.query({
      tag: 'iq',
      attrs: { xmlns: 'w:mex', to: '@s.whatsapp.net', type: 'get' },
      content: [
        {
          tag: 'query',
          attrs: { query_id: '9152604461510864' },
          content: Buffer.from(JSON.stringify({ variables: { input: { text: 'Set in GraphQL' } } })),
        },
      ],
    });
    await own;
    expect(alice.account.state.about.text).toBe('Set in GraphQL');
    const shown: (string | undefined)[] = [];
    const last = noticeOf(client, 'status', (what) => shown.push(textOf(what)) > 0 && textOf(what) === 'Shown again');
    setPrivacy(simulator.network, bob.account, { status: 'none' });
    setAbout(simulator.network, bob.account, 'Hidden');
    setPrivacy(simulator.network, bob.account, { status: 'all' });
    setAbout(simulator.network, bob.account, 'Shown again');
    await last;
    expect(shown).toEqual(['Shown again']);
  });

  it('a picture is named by searches for people, its notice says whose it is, and who has it gets none', async () => {
    const { network } = simulator;
    const search = async () => {
      const answer = (await client.socket.query({
        tag: 'iq',
        attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'usync' },
        content: [
          {
            tag: 'usync',
            attrs: { sid: '2', mode: 'full', context: 'background', last: 'true', index: '0' },
            content: [
              { tag: 'query', attrs: {}, content: [{ tag: 'picture', attrs: {} }] },
              { tag: 'list', attrs: {}, content: [{ tag: 'user', attrs: { jid: BOB } }] },
            ],
          },
        ],
      })) as Node;
      return child(child(child(child(answer, 'usync'), 'list'), 'user'), 'picture')?.attrs['id'];
    };
    const picture = async (id: string) => {
      const attrs = { target: BOB, xmlns: 'w:profile:picture', to: '@s.whatsapp.net', type: 'get' };
      const content = [{ tag: 'picture', attrs: { type: 'image', query: 'url', id } }];
      return child((await client.socket.query({ tag: 'iq', attrs, content })) as Node, 'picture')?.attrs['id'];
    };
    await client.send(BOB, { text: 'we know each other' });
    const notice = noticeOf(client, 'picture', ({ tag }) => tag === 'set');
    const id = setOwnPicture(network, bob.account, Buffer.from('a jpeg')) ?? '';
    expect((await notice).attrs).toMatchObject({ jid: BOB, id });
    expect(await search()).toBe(id);
    expect(await picture('another')).toBe(id);
    expect(await picture(id)).toBeUndefined();
    const { group } = createGroup(network, alice.account, 'With a picture', [BOB]);
    const ofGroup = noticeOf(client, 'picture', ({ attrs }) => attrs['jid'] === group.jid);
    setGroupPicture(network, group, bob.account, Buffer.from('a jpeg'));
    await ofGroup;
    bob.account.state.privacy['profile'] = 'none';
    expect(await search()).toBeUndefined();
    bob.account.state.privacy['profile'] = 'all';
    const gone = noticeOf(client, 'picture', ({ tag, attrs }) => tag === 'delete' && attrs['jid'] === BOB);
    setOwnPicture(network, bob.account, undefined);
    await gone;
  });

  it('profiles: name, about, picture, privacy, and who is blocked', async () => {
    const { network } = simulator;
    await expect(client.socket.profilePictureUrl(BOB, 'image')).rejects.toMatchObject({ data: 404 });
    await bob.sendText('6591110001', 'so that we know each other');
    await client.text('so that we know each other');
    await client.send(BOB, { text: 'yes' });
    setOwnPicture(network, bob.account, Buffer.from('a jpeg'));
    await client.until(
      () =>
        client
          .eventsOf('contacts.update')
          .flat()
          .some(({ imgUrl }) => imgUrl === 'changed'),
      'the picture',
    );
    const url = (await client.socket.profilePictureUrl(BOB, 'image')) ?? '';
    expect(url).toContain(new URL(simulator.control).host);
    const fetched = await fetch(url.replace('https', 'http'));
    expect(Buffer.from(await fetched.arrayBuffer()).toString()).toBe('a jpeg');
    const jpeg = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
      .jpeg()
      .toBuffer();
    await client.socket.updateProfilePicture(ALICE, jpeg);
    const { group } = createGroup(network, alice.account, 'Pictures', [BOB]);
    await client.socket.updateProfilePicture(group.jid, jpeg);
    for (const whose of [ALICE, group.jid]) {
      const shown = await fetch(
        ((await client.socket.profilePictureUrl(whose, 'image')) ?? '').replace('https', 'http'),
      );
      expect((await sharp(Buffer.from(await shown.arrayBuffer())).metadata()).format).toBe('jpeg');
    }
    expect(await bob.events.wait({ kind: 'picture', chat: group.jid }, 8000)).toBeDefined();
    await client.socket.removeProfilePicture(ALICE);
    await expect(client.socket.profilePictureUrl(ALICE, 'image')).rejects.toMatchObject({ data: 404 });
    bob.account.state.privacy['profile'] = 'none';
    await expect(client.socket.profilePictureUrl(BOB, 'image')).rejects.toMatchObject({ data: 401 });
    await client.socket.updateProfileStatus('Busy');
    expect(alice.account.state.about.text).toBe('Busy');
    expect(await client.socket.fetchStatus(BOB)).toMatchObject([{ status: { status: bob.account.state.about.text } }]);
    await client.socket.updateLastSeenPrivacy('none');
    expect(await client.socket.fetchPrivacySettings(true)).toMatchObject({ last: 'none' });
    await client.socket.updateBlockStatus(BOB, 'block');
    expect(alice.account.state.blocked).toEqual([bob.account.lid]);
    expect(await client.socket.fetchBlocklist()).toEqual([bob.account.lidJid]);
    const lost = await bob.sendText('6591110001', 'are you there');
    await client.socket.updateBlockStatus(BOB, 'unblock');
    expect(await client.socket.fetchBlocklist()).toEqual([]);
    await bob.sendText('6591110001', 'and now?');
    await client.text('and now?');
    expect(alice.messages.get(lost.id)).toBeUndefined();
  });

  it('rings, is refused, and gives up', async () => {
    const { network } = simulator;
    const id = ring(network, bob.account, alice.account, true);
    const call = await client.until(
      () =>
        client
          .eventsOf('call')
          .flat()
          .find((one) => one.id === id),
      'the call',
    );
    expect(call).toMatchObject({ status: 'offer', isVideo: true, chatId: BOB });
    await client.socket.rejectCall(id, call.from);
    expect(await bob.events.wait({ kind: 'call', what: 'reject' }, 8000)).toBeDefined();
    hangUp(network, bob.account, alice.account, id);
    await client.until(
      () =>
        client
          .eventsOf('call')
          .flat()
          .some((one) => one.status === 'timeout'),
      'giving up',
    );
  });
});

describe('linking by a code of eight letters', () => {
  it('refuses a client whose name is no browser on a system, as it may be where a code is scanned', async () => {
    const simulator = await startSimulator();
    const alice = simulator.network.accounts.add('6591110001', 'Alice');
    const named = new Client(simulator, { browser: ['Acme', 'Chrome', '1.0.0'] });
    const code = await named.code();
    const refused = new Promise<Node>((resolve) => {
      named.socket.ws.on('CB:iq,type:error', (iq: Node) => resolve(iq));
    });
    const letters = await named.socket.requestPairingCode('6591110001');
    expect(child(await refused, 'error')?.attrs).toMatchObject({ code: '400', text: 'bad-request' });
    await expect(enterCode(simulator.network, alice, letters)).rejects.toMatchObject({ code: 404 });
    expect(await scanCode(simulator.network, alice, code)).toMatchObject({ state: { platform: 'Acme' } });
    await named.end();
    await simulator.stop();
  });

  it('links with the right code and refuses a wrong one', async () => {
    const simulator = await startSimulator();
    const { network } = simulator;
    const alice = network.accounts.add('6591110001', 'Alice');
    const wrong = new Client(simulator);
    await wrong.code();
    await wrong.socket.requestPairingCode('6591110001');
    await expect(enterCode(network, alice, 'AAAAAAAA')).rejects.toMatchObject({ code: 400 });
    await wrong.end();

    const client = new Client(simulator);
    await client.code();
    const code = await client.socket.requestPairingCode('6591110001');
    const closed = client.closed();
    const device = await enterCode(network, alice, code);
    await closed;
    await client.connect();
    expect(client.jid).toBe(`6591110001:${device.id}@s.whatsapp.net`);
    await client.end();
    await simulator.stop();
  });
});
