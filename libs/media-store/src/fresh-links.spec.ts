import { ObjectStorageError } from '@dormouse/object-storage';
import { FreshLinks } from './fresh-links.js';

const DAY_S = 86_400;
const DAY_MS = DAY_S * 1_000;

/** A picture as in the event of its arrival. */
const picture = (id: string) => ({
  id,
  mime_type: 'image/jpeg',
  file_size: 3,
  link: `https://old.test/${id}`,
  caption: 'x',
});
const message = (id: string, fields: object) => ({ id, type: 'image', from_me: false, ...fields });

describe('FreshLinks in events', () => {
  const requested: string[][] = [];
  const links = new FreshLinks({
    linkTtlS: DAY_S,
    links: (_channelId, ids) => {
      requested.push([...ids]);
      return Promise.resolve(new Map(ids.filter((id) => id !== 'gone').map((id) => [id, `https://new.test/${id}`])));
    },
  });
  const relink = async (payload: Record<string, unknown>, ageMs = DAY_MS) =>
    (await links.inEvents('CH', [{ payload, ageMs }]))[0]?.payload;

  beforeEach(() => requested.splice(0));

  it('renews every link of an old event and nothing else, wherever the message stands', async () => {
    const image = picture('a');
    const payloads = [
      { messages: [message('1', { image })] },
      {
        messages_updates: [{ id: '1', before_update: message('1', { image }), after_update: message('1', { image }) }],
      },
      { chats: [{ id: 'c', last_message: message('1', { image }) }] },
    ];
    for (const payload of payloads) {
      const text = JSON.stringify(payload);
      expect(JSON.stringify(await relink(payload))).toBe(text.replaceAll('https://old.test/a', 'https://new.test/a'));
    }
    expect(requested).toEqual([['a'], ['a'], ['a']]);
  });

  it('takes the link of a file that is gone away, and adds none where there was none', async () => {
    const { link: _none, ...bare } = picture('b');
    const payload = { messages: [message('1', { image: picture('gone') }), message('2', { image: bare })] };
    const { link: _gone, ...gone } = picture('gone');
    expect(await relink(payload)).toEqual({ messages: [message('1', { image: gone }), message('2', { image: bare })] });
  });

  it('leaves links alone that work for a quarter of their time yet, and links that are no files', async () => {
    const fresh = { messages: [message('1', { image: picture('a') })] };
    expect(await relink(fresh, DAY_MS / 4 - 1)).toBe(fresh);
    expect(await relink(fresh, DAY_MS / 4)).not.toEqual(fresh);
    const preview = { messages: [message('1', { link_preview: { id: 'a', body: 'x', link: 'https://page.test' } })] };
    expect(await relink(preview)).toBe(preview);
    expect(requested).toHaveLength(1);
  });

  it('leaves an event as it is while no link can be signed, and throws when the database is unreachable', async () => {
    const payload = { messages: [message('1', { image: picture('a') })] };
    const failing = (error: Error) => new FreshLinks({ linkTtlS: DAY_S, links: () => Promise.reject(error) });
    const events = [{ payload, ageMs: DAY_MS }];
    expect(await failing(new ObjectStorageError('away', 'no credentials')).inEvents('CH', events)).toEqual(events);
    await expect(failing(new Error('connection refused')).inEvents('CH', events)).rejects.toThrow('connection refused');
  });
});
