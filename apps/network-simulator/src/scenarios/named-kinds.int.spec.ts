import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { createDecipheriv, hkdfSync } from 'node:crypto';
import { createGroup } from '../groups/group-members.js';
import { scanCode } from '../linking/pairing.js';
import type { Account } from '../network/account.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const BOB = '6591110002';
const PICTURE = { base64: Buffer.from('a picture').toString('base64') };
const CARD = {
  header: 'Order',
  body: 'It is on its way',
  footer: 'Example Shop',
  buttons: [
    { type: 'url', text: 'Track', url: 'https://shop.example/1' },
    { type: 'reply', text: 'Thanks', id: 'b1' },
  ],
};
const SECTIONS = [{ title: 'Soups', rows: [{ id: 'r1', title: 'Soup', description: 'hot' }] }];

/** Bob's phone sends, Alice's client and phone receive: through the control API, as people do who test with it. */
describe('messages as phones of today send them', () => {
  let simulator: Simulator;
  let client: Client;
  let group: string;

  const post = async (path: string, body: object): Promise<{ status: number; json: Record<string, unknown> }> => {
    const response = await fetch(`${simulator.control}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const send = async (draft: object, to = ALICE): Promise<string> => {
    const { status, json } = await post(`/phones/${BOB}/messages`, { to, ...draft });
    if (status !== 201) throw new Error(JSON.stringify(json));
    return String(json['id']);
  };
  const arrived = (id: string): Promise<WAMessage> =>
    client.message(({ key, message }) => key.id === id && Boolean(message), id);
  const received = async (draft: object, to = ALICE): Promise<proto.IMessage> => {
    const { message } = await arrived(await send(draft, to));
    if (!message) throw new Error('nothing came');
    return message;
  };
  const account = (phone: string): Account => {
    const found = simulator.network.accounts.byNumber(phone);
    if (!found) throw new Error(`There is no ${phone}.`);
    return found;
  };
  /** The message as a phone shows it. */
  const shown = async (id: string, phone = ALICE): Promise<Record<string, unknown>> => {
    await post(`/phones/${phone}/messages/wait`, { id });
    const all = await (await fetch(`${simulator.control}/phones/${phone}/messages?id=${id}`)).json();
    return (all as Record<string, unknown>[])[0] ?? {};
  };

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network } = simulator;
    const [alice, bob] = [network.accounts.add(ALICE, 'Alice'), network.accounts.add(BOB, 'Bob')];
    group = createGroup(network, bob, 'All', [alice.phoneJid]).group.jid;
    client = new Client(simulator, mediaThrough(simulator));
    await client.link((qr) => scanCode(network, alice, qr));
  });
  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  it.each<[string, object, string, object, object]>([
    [
      'a template',
      { template: CARD },
      'template',
      {
        templateMessage: {
          hydratedTemplate: {
            hydratedTitleText: 'Order',
            hydratedContentText: 'It is on its way',
            hydratedFooterText: 'Example Shop',
            hydratedButtons: [
              { index: 0, urlButton: { displayText: 'Track', url: 'https://shop.example/1' } },
              { index: 1, quickReplyButton: { displayText: 'Thanks', id: 'b1' } },
            ],
          },
        },
      },
      { offer: { header: 'Order', footer: 'Example Shop', choices: ['Track', 'Thanks'] } },
    ],
    [
      'an interactive message',
      { interactive: CARD },
      'interactive',
      {
        interactiveMessage: {
          header: { title: 'Order' },
          body: { text: 'It is on its way' },
          nativeFlowMessage: {
            buttons: [
              { name: 'cta_url', buttonParamsJson: expect.stringContaining('https://shop.example/1') },
              { name: 'quick_reply' },
            ],
          },
        },
      },
      { offer: { choices: ['Track', 'Thanks'] } },
    ],
    [
      'a list of today',
      { interactive: { body: 'Menu', list: { text: 'Choose', sections: SECTIONS } } },
      'interactive',
      {
        interactiveMessage: {
          nativeFlowMessage: {
            buttons: [{ name: 'single_select', buttonParamsJson: expect.stringContaining('"id":"r1"') }],
          },
        },
      },
      { text: 'Menu', offer: { choices: ['Soup'] } },
    ],
    [
      'a carousel',
      { carousel: { body: 'Ours', cards: [CARD] } },
      'interactive',
      { interactiveMessage: { carouselMessage: { cards: [{ body: { text: 'It is on its way' } }] } } },
      { offer: { choices: ['It is on its way'] } },
    ],
    [
      'the older buttons',
      { buttons: { body: 'Sure?', buttons: [{ id: 'y', text: 'Yes' }] } },
      'buttons',
      { buttonsMessage: { contentText: 'Sure?', buttons: [{ buttonId: 'y', buttonText: { displayText: 'Yes' } }] } },
      { offer: { choices: ['Yes'] } },
    ],
    [
      'the older list',
      { list: { body: 'Menu', button: 'Choose', sections: SECTIONS } },
      'list',
      {
        listMessage: {
          description: 'Menu',
          buttonText: 'Choose',
          sections: [{ title: 'Soups', rows: [{ rowId: 'r1', title: 'Soup', description: 'hot' }] }],
        },
      },
      { offer: { choices: ['Soup'] } },
    ],
    [
      'a product',
      { product: { seller: BOB, id: 'p1', title: 'Soup', price: 3.5 } },
      'product',
      { productMessage: { businessOwnerJid: `${BOB}@s.whatsapp.net`, product: { productId: 'p1', title: 'Soup' } } },
      { text: 'Soup' },
    ],
    [
      'an order',
      { order: { seller: BOB, id: 'o1', items: 2, text: 'two please' } },
      'order',
      { orderMessage: { orderId: 'o1', itemCount: 2, sellerJid: `${BOB}@s.whatsapp.net` } },
      { text: 'two please' },
    ],
    ['an album', { album: { images: 2 } }, 'album', { albumMessage: { expectedImageCount: 2 } }, {}],
    [
      'a live location',
      { liveLocation: { latitude: 1, longitude: 2 } },
      'live_location',
      { liveLocationMessage: { degreesLatitude: 1 } },
      {},
    ],
    [
      'a call that was missed',
      { callLog: { outcome: 'missed' } },
      'call_log',
      { callLogMesssage: { callOutcome: 1 } },
      {},
    ],
    ['the key of a call', { callKey: true }, 'call_key', { call: { callKey: expect.anything() } }, {}],
    ['a request for the number', { requestNumber: true }, 'request_number', { requestPhoneNumberMessage: {} }, {}],
    ['a timer', { timer: 604_800 }, 'protocol', { protocolMessage: { type: 3, ephemeralExpiration: 604_800 } }, {}],
    [
      'a poll of the fourth form',
      { poll: { name: 'Quiz', options: ['a', 'b'], form: 4 } },
      'poll',
      { pollCreationMessageV4: { message: { pollCreationMessage: { name: 'Quiz' } } } },
      { options: ['a', 'b'] },
    ],
    [
      'a poll of the newest form',
      { poll: { name: 'Quiz', options: ['a', 'b'], form: 5 } },
      'poll',
      { pollCreationMessageV5: { name: 'Quiz' } },
      { options: ['a', 'b'] },
    ],
    [
      'a text that disappears',
      { text: 'soon gone', expiration: 86_400 },
      'text',
      { extendedTextMessage: { contextInfo: { expiration: 86_400 } } },
      { ephemeralSeconds: 86_400 },
    ],
    [
      'wrappers, one in another',
      { text: 'hello bot', wrap: ['groupStatusMentionMessage', 'botInvokeMessage'] },
      'text',
      { groupStatusMentionMessage: { message: { botInvokeMessage: { message: { conversation: 'hello bot' } } } } },
      { text: 'hello bot' },
    ],
    [
      'a message as JSON',
      { message: { conversation: 'by hand', messageContextInfo: { messageSecret: 'AAEC' } } },
      'text',
      { conversation: 'by hand' },
      { text: 'by hand' },
    ],
  ])('%s', async (_title, draft, type, message, view) => {
    const id = await send(draft);
    expect((await arrived(id)).message).toMatchObject(message);
    expect(await shown(id)).toMatchObject({ type, ...view });
  });

  it('view once in each of its wrappers', async () => {
    for (const viewOnce of [true, 'v2', 'v2-extension']) {
      expect(await shown(await send({ image: PICTURE, viewOnce }))).toMatchObject({ type: 'image', viewOnce: true });
    }
  });

  it('hidden votes and options of others, in fields that the library has no name for', async () => {
    const id = await send({
      poll: { name: 'Secret', options: ['a', 'b'], form: 5, hideVotes: true, addOptions: true },
    });
    await arrived(id);
    const stored = simulator.phones.of(account(ALICE)).messages.get(id);
    // Field 10 and field 11, both true.
    expect(stored?.content.includes(Buffer.from([0x50, 1, 0x58, 1]))).toBe(true);
    await send({ vote: { id, options: ['b'] } });
    await simulator.phones.of(account(ALICE)).idle();
    expect((await shown(id))['votes']).toEqual({ [`${BOB}@s.whatsapp.net`]: ['b'] });
    const refused = await post(`/phones/${BOB}/messages`, {
      to: ALICE,
      poll: { name: 'x', options: ['a'], hideVotes: true },
    });
    expect(refused).toMatchObject({ status: 400, json: { error: expect.stringContaining('poll.form') } });
  });

  it('answers to what a business sent: they quote it', async () => {
    const quoting = { contextInfo: { stanzaId: expect.any(String) } };
    const list = await send({ list: { body: 'Menu', button: 'Choose', sections: SECTIONS } });
    const answers: [object, object][] = [
      [
        { interactiveAnswer: { id: list, text: 'Soup', params: { id: 'r1', title: 'Soup' } } },
        {
          interactiveResponseMessage: {
            body: { text: 'Soup' },
            nativeFlowResponseMessage: { name: 'menu_options', paramsJson: '{"id":"r1","title":"Soup"}' },
            ...quoting,
          },
        },
      ],
      [
        { listAnswer: { id: list, row: 'r1', title: 'Soup' } },
        { listResponseMessage: { title: 'Soup', singleSelectReply: { selectedRowId: 'r1' }, ...quoting } },
      ],
      [
        { buttonAnswer: { id: list, button: 'y', text: 'Yes' } },
        { buttonsResponseMessage: { selectedButtonId: 'y', ...quoting } },
      ],
      [
        { templateAnswer: { id: list, button: 'b1', text: 'Thanks' } },
        { templateButtonReplyMessage: { selectedId: 'b1', ...quoting } },
      ],
    ];
    for (const [draft, message] of answers) expect(await received(draft)).toMatchObject(message);
  });

  it('the ad that somebody clicked, with its card and without', async () => {
    const ad = { source: 'FB_Ads', data: 'AAEC', delaySeconds: 12 };
    const { contextInfo: bare } = (await received({ text: 'Hi!', ad })).extendedTextMessage ?? {};
    expect(bare).toMatchObject({
      conversionSource: 'FB_Ads',
      conversionDelaySeconds: 12,
      entryPointConversionSource: 'ctwa_ad',
    });
    expect(Buffer.from(bare?.conversionData ?? [])).toEqual(Buffer.from([0, 1, 2]));
    expect(bare?.externalAdReply).toBeFalsy();
    const card = { title: 'Soup', clickId: 'c1', media: 'image' };
    const { contextInfo } = (await received({ text: 'Hi!', ad: { ...ad, card } })).extendedTextMessage ?? {};
    expect(contextInfo?.externalAdReply).toMatchObject({ title: 'Soup', ctwaClid: 'c1', mediaType: 1 });
  });

  it('the better copy of a picture, and pictures of an album, name what they belong to', async () => {
    const first = await send({ image: PICTURE });
    const better = await received({ image: PICTURE, hdOf: first });
    expect(better.associatedChildMessage?.message?.imageMessage).toBeTruthy();
    expect(better.messageContextInfo?.messageAssociation).toMatchObject({
      associationType: 10,
      parentMessageKey: { id: first },
    });
    const album = await send({ album: { images: 1 } });
    const { messageContextInfo } = await received({ image: PICTURE, albumOf: album });
    expect(messageContextInfo?.messageAssociation).toMatchObject({
      associationType: 1,
      parentMessageKey: { id: album },
    });
  });

  it.each([
    ['in a chat', () => ALICE],
    ['in a group with private ids', () => group],
  ])('sealed edits, reactions and answers to events take effect on phones, %s', async (_title, place) => {
    const text = await send({ text: 'see you at 5' }, place());
    const event = await send({ event: { name: 'Party', startsAt: '2030-01-01T18:00:00Z', guests: true } }, place());
    const edit = await arrived(await send({ sealedEdit: { id: text, text: 'see you at 6' } }, place()));
    await arrived(await send({ eventAnswer: { id: event, answer: 'going', guests: 1 } }, place()));
    await arrived(await send({ sealedReaction: { id: text, emoji: '👍' } }, place()));
    const bob = `${BOB}@s.whatsapp.net`;
    for (const phone of [ALICE, BOB]) {
      expect(await shown(text, phone)).toMatchObject({
        text: 'see you at 6',
        edited: true,
        reactions: { [bob]: '👍' },
      });
      expect((await shown(event, phone))['answers']).toEqual({ [bob]: 'going' });
    }
    // As other clients open it: key from the secret of the message, no associated data.
    const sealed = edit.message?.secretEncryptedMessage;
    const secret = (await arrived(text)).message?.messageContextInfo?.messageSecret ?? new Uint8Array();
    const { phoneJid, lidJid } = account(BOB);
    const author = place() === group ? lidJid : phoneJid;
    const key = hkdfSync('sha256', secret, new Uint8Array(), `${text}${author}${author}Message Edit`, 32);
    const payload = Buffer.from(sealed?.encPayload ?? []);
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), Buffer.from(sealed?.encIv ?? []));
    decipher.setAuthTag(payload.subarray(-16));
    const plain = Buffer.concat([decipher.update(payload.subarray(0, -16)), decipher.final()]);
    expect(proto.Message.decode(plain).protocolMessage?.editedMessage?.conversation).toBe('see you at 6');
  });

  it.each([
    ['in a chat', () => ALICE],
    ['in a group with private ids', () => group],
  ])('a sealed comment is shown with its words and what it is about, %s', async (_title, place) => {
    const text = await send({ text: 'see you at 5' }, place());
    const comment = await send({ comment: { id: text, text: 'too early' } }, place());
    for (const phone of [ALICE, BOB]) {
      expect(await shown(comment, phone)).toMatchObject({ type: 'comment', text: 'too early', target: text });
    }
  });

  it('a message by its bytes reaches devices as it is, unknown fields included', async () => {
    // Field 1: "raw"; field 4000: 7.
    const bytes = Buffer.from([0x0a, 3, 0x72, 0x61, 0x77, 0x80, 0xfa, 0x01, 7]);
    const { json } = await post(`/phones/${ALICE}/messages`, { to: BOB, protobuf: bytes.toString('base64') });
    const id = String(json['id']);
    expect(await shown(id, BOB)).toMatchObject({ type: 'text', text: 'raw' });
    const stored = simulator.phones.of(account(BOB)).messages.get(id);
    expect(stored?.content.equals(bytes)).toBe(true);
    // The own client gets it as a copy of its phone.
    expect((await arrived(id)).message).toMatchObject({ conversation: 'raw' });
    const refused = await post(`/phones/${ALICE}/messages`, { to: BOB, protobuf: 'AAEC' });
    expect(refused).toMatchObject({ status: 400, json: { error: expect.stringMatching(/^protobuf: /) } });
  });

  it('names the field that is wrong', async () => {
    const refused = await post(`/phones/${BOB}/messages`, {
      to: ALICE,
      template: { body: 'x', buttons: [{ type: 'url' }] },
    });
    expect(refused).toMatchObject({ status: 400, json: { error: expect.stringContaining('template.buttons.0.text') } });
    const gone = await post(`/phones/${BOB}/messages`, { to: ALICE, eventAnswer: { id: 'NONE', answer: 'maybe' } });
    expect(gone).toMatchObject({ status: 404, json: { error: 'The phone has no message NONE.' } });
  });
});
