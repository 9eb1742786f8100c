import { libraryLog } from './library-log.js';

describe('libraryLog', () => {
  it('passes on texts of warnings and errors, never what they are about', () => {
    const lines: unknown[] = [];
    const log = libraryLog({ debug: (facts, text) => lines.push([facts, text]) });
    log.info({ node: 'secret' }, 'logging in...');
    log.warn({ body: 'secret' }, 'failed to store mapping of 4915112345678');
    log.child({ class: 'x' }).error({ key: 'secret' });
    log.error('plain text');
    expect(lines).toEqual([
      [{ library: 'baileys' }, 'failed to store mapping of #'],
      [{ library: 'baileys' }, 'plain text'],
    ]);
  });
});
