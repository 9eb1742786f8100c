import { processorMsOf } from './processor-timeout.js';

const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

describeOnLinux('processorMsOf', () => {
  it('counts the processor time of a process', () => {
    const before = process.cpuUsage();
    const countedBeforeMs = processorMsOf(process.pid) ?? NaN;
    const usedMs = () => {
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    while (usedMs() < 200);
    const countedMs = (processorMsOf(process.pid) ?? NaN) - countedBeforeMs;
    expect(countedMs).toBeGreaterThanOrEqual(180);
    expect(countedMs).toBeLessThanOrEqual(usedMs() + 20);
  });

  it('knows nothing of a process that is gone', () => {
    expect(processorMsOf(2 ** 30)).toBeUndefined();
  });
});
