import { StatusLadder, UNCONFIRMED, UNREADABLE, type ReceiptStatus } from './status-ladder.js';

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

  it('leaves a failure that was concluded from silence with the first proof that it was none', () => {
    const ladder = new StatusLadder('pending', []);
    const failed = { keyId: 'K', status: 'failed' as const, timestamp: 7, errors: [UNCONFIRMED] };
    expect(ladder.take(failed)).toHaveLength(1);
    expect(walk(ladder, ['delivered', 'a'], ['failed'], ['read', 'a'])).toEqual([
      ['sent:', 'delivered:a'],
      [],
      ['read:a'],
    ]);
    const stored = new StatusLadder('failed', [
      { viewerId: '', status: 'pending' },
      { viewerId: '', status: 'failed', errors: [UNCONFIRMED] },
    ]);
    expect(walk(stored, ['sent'], ['delivered'])).toEqual([['sent:'], ['delivered:']]);
    const refused = [{ viewerId: '', status: 'failed', errors: [{ code: 463, message: 'refused' }] }];
    expect(walk(new StatusLadder('failed', refused), ['sent'])).toEqual([[]]);
  });

  it('fails after it was sent where the only viewer cannot read it, once, and not where it was received', () => {
    const unable = (viewerId: string) => ({
      keyId: 'K',
      status: 'failed' as const,
      viewerId,
      timestamp: 7,
      errors: [UNREADABLE],
    });
    const withOne = new StatusLadder('sent', [], true);
    expect([withOne.take(unable('a')), withOne.take(unable('a'))].map((steps) => steps.length)).toEqual([1, 0]);
    expect(withOne.status).toBe('failed');
    expect(walk(withOne, ['delivered'])).toEqual([['delivered:']]);
    expect(new StatusLadder('delivered', [], true).take(unable('a'))).toEqual([]);
    const group = new StatusLadder('sent', [{ viewerId: 'b', status: 'delivered' }]);
    expect(group.take(unable('a'))).toMatchObject([{ status: 'failed', viewerId: 'a' }]);
    expect(group.take(unable('b'))).toEqual([]);
    expect(group.status).toBe('sent');
  });

  it('does not move a deleted message', () => {
    expect(walk(new StatusLadder('deleted', []), ['read', 'a'], ['failed'])).toEqual([[], []]);
  });
});
