import { newChannelId } from './channel-id.js';

describe('newChannelId', () => {
  it('is a word and five characters that cannot be misread', () => {
    for (let round = 0; round < 1_000; round += 1) {
      expect(newChannelId()).toMatch(/^[A-Z]{3,8}-[2-9A-HJKMNP-TV-Z]{5}$/);
    }
  });

  it('hardly ever comes twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => newChannelId())).size).toBe(1_000);
  });
});
