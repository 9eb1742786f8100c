import { OpenedParts } from './opened-parts.js';

describe('OpenedParts', () => {
  const closed: string[] = [];
  const close = (name: string): void => void closed.push(name);
  beforeEach(() => void closed.splice(0));

  it('closes what a start that fails had opened, the last part first, and passes on why it failed', async () => {
    const start = OpenedParts.of((parts) => {
      parts.add('database', close);
      parts.add('redis', close);
      return Promise.reject(new Error('the port is taken'));
    });
    await expect(start).rejects.toThrow('the port is taken');
    expect(closed).toEqual(['redis', 'database']);
  });

  it('closes nothing of a start that succeeds, and everything once at its end, also when a part cannot be closed', async () => {
    const opened = await OpenedParts.of((parts) => {
      parts.add('database', close);
      parts.add('broken', () => Promise.reject(new Error('it is broken')));
      parts.add('redis', close);
      return Promise.resolve(parts);
    });
    expect(closed).toEqual([]);
    await expect(opened.close()).rejects.toThrow('it is broken');
    await opened.close();
    expect(closed).toEqual(['redis', 'database']);
  });
});
