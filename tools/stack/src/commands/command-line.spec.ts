import { readCommandLine } from './command-line.js';

describe('the command line', () => {
  it('has defaults for everything', () => {
    const options = readCommandLine([], 'sandbox');
    expect(options).toMatchObject({ json: false, fresh: false, workers: 1, portBase: undefined, regions: undefined });
    expect(options.dataDir).toMatch(/\/\.dormouse\/sandbox$/);
  });

  it('takes every option', () => {
    const args = [
      '--json',
      '--fresh',
      '--workers',
      '3',
      '--port-base',
      '4100',
      '--data',
      '/tmp/here',
      '--regions',
      'eu, sg',
    ];
    expect(readCommandLine(args, 'start')).toEqual({
      json: true,
      fresh: true,
      workers: 3,
      portBase: 4100,
      dataDir: '/tmp/here',
      regions: ['eu', 'sg'],
    });
  });

  it.each([
    [['--workers', '0']],
    [['--workers', 'two']],
    [['--port-base', '80']],
    [['--port-base', '']],
    [['--regions', '']],
    [['--regions', 'sg,mars']],
    [['--regions', 'sg,sg']],
    [['--nonsense']],
    [['extra']],
  ])('refuses %j', (args) => {
    expect(() => readCommandLine(args, 'start')).toThrow();
  });
});
