import { startSpan, startTraces } from '@dormouse/traces';
import { NestLog, openLog, withoutToken } from './log.js';

const TOKEN = 'dm_sg_0123456789abcdefABCDEF0123456789abcdefABCDEF01234';

function logInto(lines: Record<string, unknown>[], level = 'info') {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return openLog({ name: 'spec', level, destination });
}

describe('openLog', () => {
  it('cuts out tokens in headers, fields, urls and error texts', () => {
    const lines: Record<string, unknown>[] = [];
    const log = logInto(lines);
    log.info({ headers: { authorization: `Bearer ${TOKEN}` }, authorization: TOKEN, token: TOKEN }, 'a');
    log.info({ req: { headers: { authorization: `Bearer ${TOKEN}` } }, url: `/chats?count=1&token=${TOKEN}` }, 'b');
    log.error({ err: new Error(`no channel for ${TOKEN}`, { cause: new Error(`GET /x?token=${TOKEN}`) }) }, 'c');
    expect(JSON.stringify(lines)).not.toContain('0123456789abcdef');
    expect(lines).toMatchObject([
      { level: 'info', name: 'spec', msg: 'a', token: '[secret]' },
      { url: '/chats?count=1&token=[secret]' },
      {
        level: 'error',
        err: { message: 'no channel for dm_sg_[secret]', cause: { message: 'GET /x?token=[secret]' } },
      },
    ]);
  });

  it('names request and trace in every line within a request, where there are traces', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = logInto(lines);
    const stop = await startTraces(
      {
        endpoint: 'http://127.0.0.1:9',
        headers: {},
        protocol: 'http/json',
        sampler: 'always_off',
        ratio: 1,
        exportEveryMs: 60_000,
      },
      { name: 'spec', version: '1.0.0' },
    );
    startSpan('request', { parent: null, requestId: 'request-1' }).run(() => log.info({}, 'within'));
    log.info({}, 'outside');
    await stop();
    const ids = { requestId: 'request-1', trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string };
    expect(lines).toMatchObject([{ msg: 'within', ...ids }, { msg: 'outside' }]);
    expect(lines[1]).not.toHaveProperty('trace_id');
  });

  it('leaves out what a driver hangs on its errors, such as the arguments of the command that failed', () => {
    const lines: Record<string, unknown>[] = [];
    const error = Object.assign(new Error('READONLY'), {
      code: 'E1',
      command: { name: 'eval', args: ['a secret text'] },
    });
    logInto(lines).error({ err: error }, 'redis failed');
    expect(lines).toMatchObject([{ err: { type: 'Error', message: 'READONLY', code: 'E1' } }]);
    expect(JSON.stringify(lines)).not.toContain('a secret text');
  });
});

describe('withoutToken', () => {
  it('keeps everything but the secret', () => {
    expect(withoutToken(`/a?token=abc&b=1 and ?x=1&token=q`)).toBe('/a?token=[secret]&b=1 and ?x=1&token=[secret]');
    expect(withoutToken(`/verify-email#token=abc`)).toBe('/verify-email#token=[secret]');
    expect(withoutToken('nothing to hide')).toBe('nothing to hide');
  });
});

describe('NestLog', () => {
  it("writes Nest's messages with their context, the wiring of the start at debug only", () => {
    const lines: Record<string, unknown>[] = [];
    const nest = new NestLog(logInto(lines));
    nest.log('Mapped {/chats, GET} route', 'RouterExplorer');
    nest.log('Nest application successfully started', 'Application');
    nest.error('broken', 'Error: broken\n  at x', 'ExceptionsHandler');
    expect(lines).toMatchObject([
      { level: 'info', msg: 'Nest application successfully started', context: 'Application' },
      { level: 'error', msg: 'broken', context: 'ExceptionsHandler', stack: 'Error: broken\n  at x' },
    ]);
  });
});
