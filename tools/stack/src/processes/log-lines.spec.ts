import pc from 'picocolors';
import { prettyLine } from './log-lines.js';

const plain = pc.createColors(false);
const at = (): Date => new Date(2026, 10, 28, 9, 5, 7, 42);
const time = at().getTime();

describe('log lines for people', () => {
  it('show time, app, level, message and fields', () => {
    const record = {
      level: 'info',
      time,
      name: 'edge-api',
      pid: 7,
      hostname: 'h',
      msg: 'request',
      path: '/a b',
      status: 200,
    };
    expect(prettyLine('edge-api', JSON.stringify(record), plain)).toBe(
      '09:05:07.042 edge-api            info  request  path="/a b" status=200',
    );
  });

  it("know pino's numbers as levels", () => {
    expect(prettyLine('a', JSON.stringify({ level: 50, time, msg: 'no' }), plain)).toMatch(/ error no$/);
  });

  it('show the stack of an error below its line', () => {
    const record = {
      level: 'error',
      time,
      msg: 'failed',
      err: { type: 'Error', message: 'x', stack: 'Error: x\nat y' },
    };
    expect(prettyLine('a', JSON.stringify(record), plain).split('\n')).toEqual([
      expect.stringMatching(/error failed$/),
      '    Error: x',
      '    at y',
    ]);
  });

  it.each(['Segmentation fault', '{"cut off', '[1]', '{}'])('never lose a line that is no record: %s', (text) => {
    expect(prettyLine('app', text, plain, at)).toContain(text === '{}' ? 'app' : text);
  });
});
