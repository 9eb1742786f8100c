import { GatewayError } from './errors.js';
import { parseForm } from './form.js';
import { FilePart, uploadMediaBody } from './media.js';
import { sendImageBody, sendVoiceBody } from './media-messages.js';
import { updateProfileBody } from './profile.js';

const to = { name: 'to', text: '15550001111' };
const file = (field = 'media') => new FilePart(field, `parts/${field}`);
const detailsOf = (read: () => unknown): string | undefined => {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.details;
    throw error;
  }
  return undefined;
};

describe('parseForm', () => {
  it('reads numbers and booleans from their text', () => {
    const parts = [
      to,
      file(),
      { name: 'seconds', text: '12' },
      { name: 'recording_time', text: '1.5' },
      { name: 'no_encode', text: 'true' },
      { name: 'view_once', text: '0' },
    ];
    expect(parseForm(sendVoiceBody, parts, 'media')).toMatchObject({
      seconds: 12,
      recording_time: 1.5,
      no_encode: true,
      view_once: false,
    });
  });

  it('reads lists from repeated parts, from a JSON list and from one text', () => {
    const mentionsOf = (...texts: string[]) =>
      parseForm(sendImageBody, [to, file(), ...texts.map((text) => ({ name: 'mentions', text }))], 'media').mentions;
    expect(mentionsOf('15550002222', '15550003333')).toEqual(['15550002222', '15550003333']);
    expect(mentionsOf('["15550002222","15550003333"]')).toEqual(['15550002222', '15550003333']);
    expect(mentionsOf('15550002222')).toEqual(['15550002222']);
  });

  it('refuses a JSON list with more values or levels than a JSON body may have, without creating them', () => {
    const refusalOf = (text: string) =>
      detailsOf(() => parseForm(sendImageBody, [to, file(), { name: 'mentions', text }], 'media'));
    for (const unit of ['[]', '{}', '0', '{"a":1}'])
      expect(refusalOf(`[${`${unit},`.repeat(10_001)}0]`)).toMatch(/^mentions: has more than 10000 values: send less/);
    expect(refusalOf(`${'['.repeat(65)}${']'.repeat(65)}`)).toBe('mentions: nested deeper than 64 levels');
    expect(refusalOf(`["${'[,'.repeat(20_000)}"]`)).not.toMatch(/more than 10000|deeper/);
    expect(refusalOf(`["${'\\"'.repeat(500_000)}`)).toMatch(/^mentions/);
  });

  it('takes empty texts as absent and ignores unknown parts', () => {
    const parts = [to, file(), { name: 'caption', text: '' }, { name: 'width', text: '' }, { name: 'x', text: 'y' }];
    expect(Object.keys(parseForm(sendImageBody, parts, 'media')).sort()).toEqual(['media', 'to']);
  });

  it('takes the named file, or the only one there is', () => {
    expect(parseForm(uploadMediaBody, [file('file')], 'media').media).toMatchObject({ handle: 'parts/file' });
    expect(parseForm(uploadMediaBody, [file('x'), file(), file('y')], 'media').media).toMatchObject({
      handle: 'parts/media',
    });
    expect(detailsOf(() => parseForm(uploadMediaBody, [file('x'), file('y')], 'media'))).toBe(
      'media: one file per call',
    );
    expect(detailsOf(() => parseForm(uploadMediaBody, [file(), file()], 'media'))).toBe('media: one file per call');
  });

  it('takes a text part in place of the file', () => {
    const parts = [to, { name: 'media', text: 'https://media.example.com/a.jpg' }];
    expect(parseForm(sendImageBody, parts, 'media').media).toEqual({
      form: 'url',
      url: new URL('https://media.example.com/a.jpg'),
    });
  });

  it('names the field and the reason', () => {
    expect(detailsOf(() => parseForm(sendImageBody, [to], 'media'))).toBe('media: required');
    expect(detailsOf(() => parseForm(sendImageBody, [to, file(), { name: 'width', text: 'wide' }], 'media'))).toBe(
      'width: must be a whole number',
    );
    expect(detailsOf(() => parseForm(sendImageBody, [to, file(), { name: 'no_cache', text: 'yes' }], 'media'))).toBe(
      'no_cache: must be true or false',
    );
    expect(detailsOf(() => parseForm(updateProfileBody, [], 'icon'))).toBe(
      'body: one of name, about, icon is required',
    );
  });
});
