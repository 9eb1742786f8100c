import { nameOf } from './idempotency-keys.js';

const request = { channelId: 'a', key: 'order-1' };

describe('the name of a message that is sent under an Idempotency-Key', () => {
  it('is the same for a repetition on the same day whose first request a restored database does not know', () => {
    const name = nameOf(request, new Date('2026-11-29T08:00:00.123Z'));
    expect(nameOf(request, new Date('2026-11-29T21:30:00Z'))).toBe(name);
    expect(nameOf({ ...request, channelId: 'b' }, new Date('2026-11-29T08:00:00.123Z'))).not.toBe(name);
  });

  it('is another one when the key is used again after its 24 hours', () => {
    expect(nameOf(request, new Date('2026-11-30T08:00:00Z'))).not.toBe(
      nameOf(request, new Date('2026-11-29T08:00:00Z')),
    );
  });
});
