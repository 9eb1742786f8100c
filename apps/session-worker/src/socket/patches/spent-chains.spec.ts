import { CLOSED_CHAINS_KEPT, removeSpentChains, SPENT_CHAINS_KEPT } from './spent-chains.js';
import { Side } from './test-signal-sides.js';

removeSpentChains();

async function newConversation() {
  const us = new Side('them');
  const them = new Side('us');
  await us.begin(them);
  const first = await us.encrypt('the first');
  await them.decrypt(first);
  return {
    us,
    them,
    first,
    /** A message each way; both are read. */
    turns: async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        expect(await us.decrypt(await them.encrypt(`question ${turn}`))).toBe(`question ${turn}`);
        expect(await them.decrypt(await us.encrypt(`answer ${turn}`))).toBe(`answer ${turn}`);
      }
    },
  };
}

describe('removeSpentChains', () => {
  it('keeps the session of a conversation as small as it was after its first turns, on both sides', async () => {
    const { us, them, turns } = await newConversation();
    await turns(SPENT_CHAINS_KEPT + 1);
    const before = [us, them].map(({ stored = '' }) => stored.length);
    await turns(50);
    const grown = [us, them].map(({ stored = '' }, side) => stored.length - (before[side] ?? 0));
    expect(grown.every((bytes) => Math.abs(bytes) < 20)).toBe(true);
  });

  it('leaves a message that was overtaken readable for many turns', async () => {
    const { us, them, turns } = await newConversation();
    const late = await them.encrypt('late');
    await turns(CLOSED_CHAINS_KEPT - 1);
    expect(await us.decrypt(late)).toBe('late');
  });

  it('bounds what those who overtake themselves in every turn leave behind', async () => {
    const { us, them, turns } = await newConversation();
    const skipOneEach = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        await them.encrypt('never arrives');
        await turns(1);
      }
    };
    await skipOneEach(CLOSED_CHAINS_KEPT + 1);
    const before = us.stored?.length ?? 0;
    await skipOneEach(20);
    expect(Math.abs((us.stored?.length ?? 0) - before)).toBeLessThan(20);
  });

  it('still knows the first message of a conversation when it is delivered again some turns later', async () => {
    const { us, them, first, turns } = await newConversation();
    await turns(SPENT_CHAINS_KEPT);
    await expect(them.decrypt(first)).rejects.toThrow('Key used already or never filled');
    expect(await us.decrypt(await them.encrypt('goes on'))).toBe('goes on');
  });
});
