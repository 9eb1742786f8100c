import { FILM, JPEG, MP3, OPUS, PDF, WEBP } from '@dormouse/stack/sample-files';
import { Client } from 'pg';
import { schemaViolation } from './harness/contract.js';
import { eventually } from './harness/eventually.js';
import { FileServer } from './harness/file-server.js';
import type { GatewayClient, GatewayResponse } from './harness/gateway-client.js';
import { loginCode, RunningStack, untilConnected, untilStatus } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { missingFields, requestOf, samples, withReal } from './harness/samples.js';

/** Fields that an answer may lack, because they are shown when there is something to show. */
const WHEN_KNOWN = new Set([
  'is_business', // of businesses only
  'contacts[].is_business',
  'user.is_business',
  'ip', // of the machine, which the region does not show
  'invites[].expiration', // an admin's invitation is the group's own link, which has no end
  'statuses[].viewer_id', // in groups only
  'unread_mention', // of chats in which one waits
  'chats[].unread_mention',
  'read_only', // of groups that were left
  'chats[].read_only',
  'not_spam',
  'chats[].not_spam',
]);

const OWN = '15550009999';
const ADA = '15550001111';
const BO = '15550002222';
const SHY = '15550003333';
const SAMPLE_GROUP = '120363000000000001@g.us';
const SAMPLE_CODE = 'AbCdEfGhIjKlMnOpQrStUv';
const SAMPLE_OWN = 'PrAAAAAAAAAAEAA-wP4Dntov1w';
const SAMPLE_RECEIVED = 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w';
const SAMPLE_FILE = 'png-00000000000000000000000000abc123-000014c0fb69ad';
const SAMPLE_HOST = 'https://media.example.com';
const ADA_CHAT = `${ADA}@s.whatsapp.net`;
const OWN_TEXT = { from_me: true, type: 'text', chat_id: ADA_CHAT };

type Real = Record<string, string>;
type Prepare = () => Promise<{ real?: Real; client?: GatewayClient; answer?: () => Promise<GatewayResponse> }>;

describe('samples of the contract', () => {
  let running: RunningStack;
  let files: FileServer;
  let database: Client;
  let client: GatewayClient;
  let channelId: string;
  let texts = 0;
  const phones = new Map<string, VirtualPhone>();
  const phone = (number: string): VirtualPhone => {
    const found = phones.get(number);
    if (!found) throw new Error(`no phone ${number}`);
    return found;
  };

  beforeAll(async () => {
    const unlimited = { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_GROUP_WRITES: 'off', RATE_OTHER: '500/60' };
    running = await RunningStack.start({
      env: {
        'edge-api': { ...unlimited, MEDIA_LIMITS: JSON.stringify({ document: 1_048_576 }), START_WITHIN_MS: '10000' },
        'session-worker': { SLEEP_CHECK_EVERY_MS: '200' },
      },
    });
    const [jpg, mp4, mp3, ogg, webp, pdf] = [JPEG, FILM, MP3, OPUS, WEBP, PDF];
    files = await FileServer.start({
      '/a.jpg': jpg,
      '/p/new.jpg': jpg,
      '/p1.jpg': jpg,
      '/a.mp4': mp4,
      '/a.mp3': mp3,
      '/a.ogg': ogg,
      '/a.webp': webp,
      '/a.pdf': pdf,
    });
    database = new Client({ connectionString: running.stack.databases.sg });
    await database.connect();
    for (const [number, name] of [
      [OWN, 'Example Shop'],
      [ADA, 'Ada'],
      [BO, 'Bo'],
      [SHY, 'Shy'],
    ] as const) {
      phones.set(number, await running.network.createPhone({ phone: number, name }));
    }
    await running.network.call('POST', `/phones/${SHY}/privacy`, { groupadd: 'none' });
    await running.network.call('POST', `/phones/${OWN}/contacts`, { who: ADA, name: 'Ada Example' });
    for (const number of [OWN, ADA]) {
      await running.network.call('POST', `/phones/${number}/profile`, { about: 'Busy' });
      await running.network.call('POST', `/phones/${number}/picture`, {
        base64: JPEG.bytes.toString('base64'),
      });
    }
    ({ id: channelId, client } = await running.createChannel('Example Shop'));
    await eventually(async () => phone(OWN).scan(await loginCode(client)), { what: 'it is linked' });
    await untilConnected(client);
    await receivedMessage();
  }, 120_000);

  afterEach(() => running.network.removeFaults());
  afterAll(async () => {
    await database.end();
    await files.close();
    await running.stop();
  }, 60_000);

  /** A message of the channel to Ada, delivered and read on request. */
  const ownMessage = async (to = ADA): Promise<Real> => {
    const { body } = await client.post<{ message: { id: string } }>('/messages/text', { to, body: `Hi ${++texts}` });
    return { [SAMPLE_OWN]: body.message.id };
  };
  const readMessage: Prepare = async () => {
    const real = await ownMessage();
    const id = real[SAMPLE_OWN] ?? '';
    await phone(ADA).waitFor({ text: `Hi ${texts}` });
    await phone(ADA).read(`${OWN}@s.whatsapp.net`);
    await eventually(async () => (await client.get<{ status: string }>(`/messages/${id}`)).body.status === 'read', {
      what: 'the message was read',
    });
    return { real };
  };
  const receivedMessage = async (): Promise<Real> => {
    const text = `Hello there ${++texts}`;
    await phone(ADA).send(OWN, text);
    const id = await eventually(
      async () => {
        const { body } = await client.get<{ messages: { id: string; text?: { body: string } }[] }>(
          `/messages/list/${ADA_CHAT}?count=500`,
        );
        return body.messages.find((message) => message.text?.body === text)?.id;
      },
      { what: 'the message was received' },
    );
    return { [SAMPLE_RECEIVED]: id };
  };
  const received: Prepare = async () => ({ real: await receivedMessage() });
  const upload = async (): Promise<Real> => {
    const { body } = await client.post<{ id: string }>('/media', undefined, {
      raw: { body: JPEG.bytes, contentType: 'image/jpeg' },
    });
    return { [SAMPLE_FILE]: body.id };
  };
  const uploaded: Prepare = async () => ({ real: await upload() });
  const createGroup = () => client.post<{ id: string }>('/groups', samples.get('createGroup.ok')?.request.body);
  /** A group of its own, with these members besides those of the sample. */
  const ownGroup = async (...numbers: string[]): Promise<string> => {
    const { id } = (await createGroup()).body;
    if (numbers.length > 0) await client.post(`/groups/${id}/participants`, { participants: numbers });
    return id;
  };
  const inGroup: Prepare = async () => ({ real: { [SAMPLE_GROUP]: await ownGroup() } });
  const withMember =
    (number: string): Prepare =>
    async () => ({ real: { [SAMPLE_GROUP]: await ownGroup(number) } });
  const foreignGroup = async (change?: object): Promise<Real> => {
    const made = await running.network.call<{ id: string; inviteCode: string }>('POST', `/phones/${BO}/groups`, {
      subject: 'Example Group',
      members: change ? [OWN] : [],
    });
    if (change) {
      await running.network.call('PATCH', `/phones/${BO}/groups/${made.id}`, change);
      await eventually(async () => (await client.get<{ restricted?: boolean }>(`/groups/${made.id}`)).body.restricted, {
        what: 'the group is locked',
      });
    }
    return { [SAMPLE_GROUP]: made.id, [SAMPLE_CODE]: made.inviteCode };
  };
  const byLink: Prepare = async () => ({ real: await foreignGroup() });
  /** Times are whole seconds: writes to Ada until a list begins with her, or with what was written. */
  const latest =
    (path: string, list: string, first: Record<string, unknown>): Prepare =>
    async () => {
      await eventually(
        async () => {
          await ownMessage();
          const { body } = await client.get<Record<string, Record<string, unknown>[]>>(path);
          return Object.entries(first).every(([field, value]) => body[list]?.[0]?.[field] === value);
        },
        { what: `${path} begins with what was written` },
      );
      return {};
    };
  /** Pictures are known once they were requested. */
  const profileOfAda: Prepare = async () => {
    await client.get(`/contacts/${ADA}/profile`);
    return {};
  };
  const fresh = async (): Promise<GatewayClient> => (await running.createChannel('Fresh')).client;
  /** A channel of its own that has fallen asleep. */
  const sleeper = async (): Promise<{ client: GatewayClient; number: string }> => {
    const { id, client: other } = await running.createChannel('Sleeper');
    await running.management.call('POST', `/channels/${id}/sleep`, { idle_after_s: 1 });
    const owner = await running.network.createPhone({ name: 'Example Shop' });
    await owner.scan(await loginCode(other));
    await eventually(
      async () => {
        const asleep = `SELECT 1 FROM channels WHERE id = $1 AND session_state = 'hibernated'`;
        return (await database.query(asleep, [id])).rowCount === 1;
      },
      { what: 'the channel sleeps', withinMs: 30_000 },
    );
    await eventually(
      async () => (await other.get<{ status: { hibernated?: true } }>('/health')).body.status.hibernated === true,
      { what: 'health shows that it sleeps' },
    );
    return { client: other, number: owner.phone };
  };
  const unlinked: Prepare = async () => ({ client: await fresh() });

  /** What must be true before a sample is requested. */
  const PREPARED: Record<string, Prepare> = {
    'getHealth.not_linked': unlinked,
    'getHealth.qr': async () => {
      const other = await fresh();
      await loginCode(other);
      await untilStatus(other, 'qr');
      return { client: other };
    },
    'getHealth.hibernated': async () => ({ client: (await sleeper()).client }),
    // It wakes, but the network does not answer.
    'error.503_waking': async () => {
      const { client: other, number } = await sleeper();
      await running.network.addFault({ kind: 'silence', phone: number });
      return { client: other };
    },
    'getLoginImage.ok': unlinked,
    'error.503_not_linked': unlinked,
    'error.401_no_token': () => Promise.resolve({ client: running.client(undefined) }),
    'error.402_past_due': async () => {
      const { id, client: other } = await running.createChannel('Past due');
      await database.query(`UPDATE channels SET standing = 'past_due' WHERE id = $1`, [id]);
      return { client: other };
    },
    'error.429_rate': async () => {
      const other = await fresh();
      await Promise.all(Array.from({ length: 500 }, () => other.get('/settings')));
      return { client: other };
    },
    'error.413_too_large': () =>
      Promise.resolve({
        answer: () =>
          client.post('/media', undefined, { raw: { body: Buffer.alloc(1_100_000), contentType: 'application/pdf' } }),
      }),
    // A stored read sends nothing to the network, which alone can fail so: a send does.
    'error.502_upstream': async () => {
      await running.network.addFault({ kind: 'refuse-send', phone: OWN, code: 479, count: 1 });
      return { answer: () => client.post('/messages/text', { to: ADA, body: 'x' }) };
    },
    'getGroup.ok': async () => {
      const group = await ownGroup();
      await client.request('PATCH', `/groups/${group}`, { body: { description: 'For tests' } });
      return { real: { [SAMPLE_GROUP]: group } };
    },
    'addParticipants.ok': inGroup,
    'removeParticipants.ok': withMember(ADA),
    'listGroups.ok': async () => {
      const group = await ownGroup();
      await client.request('PATCH', `/groups/${group}`, { body: { description: 'For tests' } });
      await eventually(
        async () => {
          await client.post('/messages/text', { to: group, body: 'Hi all' });
          return (await client.get<{ groups: { id: string }[] }>('/groups?count=1')).body.groups[0]?.id === group;
        },
        { what: 'the list begins with the group' },
      );
      return {};
    },
    'promoteAdmins.ok': withMember(ADA),
    'demoteAdmins.ok': withMember(ADA),
    'updateGroup.subject': inGroup,
    'updateGroup.setting': inGroup,
    'updateGroup.not_admin': async () => ({ real: await foreignGroup({ locked: true }) }),
    'getGroupInvite.ok': inGroup,
    'joinGroup.join': byLink,
    'joinGroup.send_invite': byLink,
    'sendText.group_mention': inGroup,
    'sendPoll.ok': inGroup,
    'sendPresence.recording': inGroup,
    'getMessage.ok': readMessage,
    'getMessageStatuses.ok': readMessage,
    'editMessage.edit': async () => ({ real: await ownMessage() }),
    'editMessage.missing_body': async () => ({ real: await ownMessage() }),
    'editMessage.no_body_reads': received,
    'editMessage.not_own': received,
    'sendText.edit': async () => ({ real: await ownMessage() }),
    'sendText.quoted': received,
    'markMessageRead.empty_object': received,
    'markMessageRead.forward': received,
    'markMessageRead.no_body': received,
    'reactToMessage.ok': received,
    'reactToMessage.blank_removes': received,
    'removeReaction.ok': received,
    'getChat.ok': latest(`/messages/list/${ADA_CHAT}?count=1`, 'messages', OWN_TEXT),
    'getContact.ok': profileOfAda,
    'listContacts.ok': profileOfAda,
    'listChats.ok': latest('/chats?count=1', 'chats', { id: ADA_CHAT }),
    'listMessages.ok': latest('/messages/list?count=1', 'messages', OWN_TEXT),
    'listChatMessages.ok': async () => {
      await receivedMessage();
      const nowS = Math.floor(Date.now() / 1_000);
      return { real: { '1789999900': String(nowS - 600), '1790000000': String(nowS + 600) } };
    },
    'sendImage.media_id': uploaded,
    'listMedia.ok': async () => {
      const sample = samples.get('uploadMedia.multipart');
      if (sample) await client.request('POST', '/media', await requestOf(sample));
      return {};
    },
    // The sample's picture is cut short.
    'sendImage.null_caption': () => Promise.resolve({ real: { '/9j/4AAQSkZJRg==': JPEG.bytes.toString('base64') } }),
    'downloadMedia.ok': uploaded,
    'deleteMedia.ok': uploaded,
    'deleteMessage.ok': async () => ({ real: await ownMessage() }),
    'revokeGroupInvite.ok': inGroup,
    'leaveGroup.ok': inGroup,
    'deleteChat.ok': async () => {
      await ownMessage(BO);
      return { real: { [ADA_CHAT]: `${BO}@s.whatsapp.net` } };
    },
    'logout.ok': async () => ({ client: (await running.createLinkedChannel('Example Shop')).client }),
  };

  it('are all requested', () => {
    expect(samples.size).toBe(104);
    expect(Object.keys(PREPARED).filter((name) => !samples.has(name))).toEqual([]);
  });

  it.each([...samples.keys()])(
    '%s',
    async (name) => {
      const sample = samples.get(name);
      if (!sample) throw new Error(`no sample ${name}`);
      const { real = {}, client: caller = client, answer } = (await PREPARED[name]?.()) ?? {};
      const made = withReal(sample, { [SAMPLE_HOST]: files.url, ...real });
      const { path, ...options } = await requestOf(made);
      const got = await (answer ? answer() : caller.request(sample.method, path, options));
      const { status, contentType, body, headers = {} } = sample.response;
      expect({ status: got.status, details: got.status === status ? undefined : got.body }).toEqual({ status });
      if (contentType !== undefined && !contentType.startsWith('application/json')) {
        expect(got.headers['content-type']).toMatch(/^(image|application)\//);
        return;
      }
      expect(Object.keys(headers).filter((header) => got.headers[header.toLowerCase()] === undefined)).toEqual([]);
      if (status >= 400) {
        expect(schemaViolation('ResponseError', got.body)).toBeUndefined();
        expect(missingFields(body, got.body)).toEqual([]);
        return;
      }
      expect(missingFields(body, got.body).filter((field) => !WHEN_KNOWN.has(field))).toEqual([]);
    },
    60_000,
  );

  it('leave the channel as it was made', async () => {
    expect((await client.get('/health')).body).toMatchObject({ channel_id: channelId });
  });
});
