import { settingsOf, USAGE } from './command-line.js';

describe('the command line', () => {
  it('gives settings', () => {
    expect(settingsOf(['--port', '4100', '--data-dir=here'])).toEqual({ PORT: '4100', DATA_DIR: 'here' });
    expect(settingsOf([])).toEqual({});
  });

  it('shows its usage with --help and -h', () => {
    for (const option of ['--help', '-h']) expect(settingsOf([option])).toBe('help');
    for (const option of ['--port', '--host', '--public-host', '--data-dir', '--log-level']) {
      expect(USAGE).toContain(option);
    }
  });

  it('names an option that does not exist', () => {
    expect(() => settingsOf(['--prot', '1'])).toThrow('--prot');
    expect(() => settingsOf(['4100'])).toThrow('4100');
  });
});
