import { deferred } from '../deferred.js';
import { EncryptionBarrier } from './encryption-barrier.js';

type Repository = Parameters<EncryptionBarrier['guard']>[0];

describe('held words', () => {
  const ciphertext = Uint8Array.of(1);
  const begin = () => {
    const encrypted: string[] = [];
    const repository: Repository = {
      encryptMessage: ({ jid }) => (encrypted.push(jid), Promise.resolve({ type: 'msg', ciphertext })),
      encryptGroupMessage: ({ group }) => (
        encrypted.push(group),
        Promise.resolve({ ciphertext, senderKeyDistributionMessage: ciphertext })
      ),
    };
    const words = new EncryptionBarrier();
    words.guard(repository);
    const both = () => [
      repository.encryptMessage({ jid: 'ada', data: ciphertext }),
      repository.encryptGroupMessage({ group: 'club', data: ciphertext, meId: 'me' }),
    ];
    return { words, both, encrypted };
  };

  it('are encrypted at once, and given out when what holds them has ended well', async () => {
    const { words, both, encrypted } = begin();
    const work = deferred<void>();
    words.hold(work.promise);
    let given = 0;
    const all = both().map((each) => each.then(() => (given += 1)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(encrypted).toEqual(['ada', 'club']);
    expect(given).toBe(0);
    work.resolve();
    await Promise.all(all);
  });

  it('are never given out when it fails, and neither are those that are encrypted later while the hold lasts', async () => {
    const { words, both } = begin();
    const release = words.hold(Promise.reject(new Error('no room')));
    for (const each of [...both(), ...both()]) await expect(each).rejects.toThrow('no room');
    release();
    await Promise.all(both());
  });

  it('are free when nothing holds them', async () => {
    await Promise.all(begin().both());
  });
});
