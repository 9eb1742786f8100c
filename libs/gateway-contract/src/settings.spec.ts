import { parseInput } from './parse.js';
import {
  applySettingsPatch,
  changedSettings,
  DEFAULT_SETTINGS,
  settingsOf,
  settingsPatchBody,
  shownSettings,
} from './settings.js';
import { wantedEvents } from './webhook-events.js';

describe('settings', () => {
  it('leaves absent fields, replaces webhooks as a whole and merges media key by key', () => {
    const first = applySettingsPatch(
      DEFAULT_SETTINGS,
      parseInput(settingsPatchBody, {
        webhooks: [{ url: 'https://a.example' }, { url: 'https://b.example' }],
        media: { auto_download: ['image'] },
      }),
    );
    const second = applySettingsPatch(
      first,
      parseInput(settingsPatchBody, { webhooks: [{ url: 'https://c.example' }], media: { init_avatars: true } }),
    );
    expect(second.webhooks.map(({ url }) => url)).toEqual(['https://c.example']);
    expect(second.media).toEqual({ auto_download: ['image'], init_avatars: true });
    expect(changedSettings(first, second)).toEqual(['media', 'webhooks']);
  });

  it('gives a webhook the default subscription of new messages', () => {
    const { webhooks } = parseInput(settingsPatchBody, { webhooks: [{ url: 'https://a.example' }] });
    expect(webhooks?.[0]).toMatchObject({ mode: 'body', events: [{ type: 'messages', method: 'post' }] });
  });

  it('reads an empty or unreadable stored record as the defaults', () => {
    expect(settingsOf({})).toEqual(DEFAULT_SETTINGS);
    expect(settingsOf('nonsense')).toEqual(DEFAULT_SETTINGS);
  });

  it('keeps the webhooks of a stored record in which another field is no longer readable', () => {
    const stored = { webhooks: [{ url: 'https://a.example' }], auto_presence: 'of an older version' };
    expect(settingsOf(stored)).toMatchObject({
      webhooks: [{ url: 'https://a.example' }],
      auto_presence: 'none',
    });
  });

  it('never shows the password of the proxy', () => {
    const settings = { ...DEFAULT_SETTINGS, proxy: 'socks5://user:secret@proxy.example:1080' };
    expect(shownSettings(settings).proxy).toBe('socks5://user:***@proxy.example:1080');
  });

  it('keeps the password of the proxy when the record is sent back as it was shown', () => {
    const before = { ...DEFAULT_SETTINGS, proxy: 'socks5://user:secret@proxy.example:1080' };
    const back = parseInput(settingsPatchBody, { ...shownSettings(before), auto_read: true });
    expect(applySettingsPatch(before, back)).toEqual({ ...before, auto_read: true });
    const other = 'socks5://user:other@proxy.example:1080';
    expect(applySettingsPatch(before, { proxy: other }).proxy).toBe(other);
    expect(applySettingsPatch(before, { proxy: '' }).proxy).toBe('');
  });

  it('understands deprecated event names, and no method as every method', () => {
    const { webhooks } = parseInput(settingsPatchBody, {
      webhooks: [{ url: 'https://a.example', events: [{ type: 'ack' }, { type: 'message', method: 'put' }] }],
    });
    const [entry] = webhooks ?? [];
    expect(entry && wantedEvents(entry)).toEqual(['statuses.post', 'statuses.put', 'messages.put', 'messages.post']);
  });
});
