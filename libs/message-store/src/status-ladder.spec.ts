import { StatusLadder, type ReceiptStatus } from './status-ladder.js';

describe('StatusLadder', () => {
  const report = (status: ReceiptStatus, viewerId?: string) => ({
    keyId: 'K',
    status,
    timestamp: 7,
    ...(viewerId && { viewerId }),
  });
  const walk = (ladder: StatusLadder, ...reports: Parameters<typeof report>[]) =>
    reports.map((args) => ladder.take(report(...args)).map((step) => `${step.status}:${step.viewerId}`));

  it('goes pending, sent, delivered, read, played', () => {
    const ladder = new StatusLadder('pending', []);
    expect(walk(ladder, ['sent'], ['delivered', 'a'], ['read', 'a'], ['played', 'a'])).toEqual([
      ['sent:'],
      ['delivered:a'],
      ['read:a'],
      ['played:a'],
    ]);
    expect(ladder.status).toBe('played');
  });

  it('never goes backwards, and tells nothing twice', () => {
    const ladder = new StatusLadder('read', [{ viewerId: 'a', status: 'read' }]);
    expect(walk(ladder, ['delivered', 'a'], ['read', 'a'], ['sent'])).toEqual([[], [], []]);
    expect(ladder.status).toBe('read');
  });

  it('tells "sent" before the first receipt when the receipt comes first, and not again afterwards', () => {
    const ladder = new StatusLadder('pending', []);
    expect(walk(ladder, ['read', 'a'], ['sent'])).toEqual([['sent:', 'read:a'], []]);
  });

  it('keeps each viewer apart; the message has the furthest status', () => {
    const ladder = new StatusLadder('sent', []);
    expect(walk(ladder, ['read', 'a'], ['delivered', 'b'], ['delivered', 'a'])).toEqual([
      ['read:a'],
      ['delivered:b'],
      [],
    ]);
    expect(ladder.status).toBe('read');
  });

  it('fails only from pending, once, and stays failed', () => {
    const ladder = new StatusLadder('pending', []);
    expect(walk(ladder, ['failed'], ['failed'], ['delivered', 'a'])).toEqual([['failed:'], [], []]);
    expect(walk(new StatusLadder('sent', []), ['failed'])).toEqual([[]]);
  });

  it('does not move a deleted message', () => {
    expect(walk(new StatusLadder('deleted', []), ['read', 'a'], ['failed'])).toEqual([[], []]);
  });
});
