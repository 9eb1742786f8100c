import { readFileSync } from 'node:fs';
import { DEFAULT_MEDIA_LIMITS, EDIT_WINDOW_S, MAX_CHECKED_CONTACTS, MAX_TEXT_LENGTH } from '@dormouse/gateway-contract';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = read('apps/docs/content/limits.md');
/** Limits as an installation sets them; a spec holds these to the code. */
const settings = read('infra/kubernetes/base/settings.yaml');

/** The value beside a name in one of the page's tables. */
const shown = (name: string): string | undefined =>
  page
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .find(([, first]) => first === name)?.[2];

describe('the page of limits', () => {
  it.each([
    ['sends, forwards and edits', 'RATE_SENDS'],
    ['reactions and deletions', 'RATE_MESSAGE_ACTS'],
    ['numbers in `POST /contacts`', 'RATE_CONTACT_CHECKS'],
    ['changes of groups', 'RATE_GROUP_WRITES'],
    ['`GET /health`', 'RATE_HEALTH'],
    ['everything else', 'RATE_OTHER'],
    ['requests of one address without a valid token', 'RATE_BAD_TOKENS'],
  ])('has the rate of %s', (name, setting) => {
    const [, requests, seconds] = new RegExp(`${setting}: (\\d+)/(\\d+)`).exec(settings) ?? [];
    expect(shown(name)).toBe(seconds === '60' ? `${requests} a minute` : `${requests} in ${seconds} seconds`);
  });

  it('has the sizes of the contract', () => {
    const mebibytes = (kind: keyof typeof DEFAULT_MEDIA_LIMITS) => `${DEFAULT_MEDIA_LIMITS[kind] / 1_048_576} MiB`;
    expect(shown('image, audio, voice note')).toBe(mebibytes('image'));
    expect(mebibytes('audio')).toBe(mebibytes('voice'));
    expect(shown('video, document')).toBe(mebibytes('video'));
    expect(mebibytes('document')).toBe(mebibytes('video'));
    expect(shown('sticker')).toBe(mebibytes('sticker'));
    expect(shown('profile picture')).toBe(mebibytes('icon'));
    expect(shown('text of a message')).toBe(`${MAX_TEXT_LENGTH.toLocaleString('en')} characters`);
    expect(shown('numbers in one `POST /contacts`')).toContain(MAX_CHECKED_CONTACTS.toLocaleString('en'));
    expect(shown('editing an own message')).toContain(`${EDIT_WINDOW_S / 60} minutes`);
  });
});
