import { catalogue } from '../i18n/en/catalogue.js';
import { auditFacts, auditSentence, type AuditEntry } from './audit-sentence.js';

const words = catalogue.account.audit;
const entry = (changed: Partial<AuditEntry>): AuditEntry => ({
  id: '1',
  at: 1_800_000_000,
  actor: { kind: 'user', id: 'usr_1', name: 'Ada' },
  action: 'channel.create',
  ...changed,
});

describe('an entry of the audit log', () => {
  it('is a sentence with who did what to what', () => {
    expect(auditSentence(entry({ object: { kind: 'channel', id: 'NINJA-4XK2P' } }), words)).toBe(
      'Ada created a channel (NINJA-4XK2P)',
    );
    expect(auditSentence(entry({ action: 'channel.rotate-token.failed' }), words)).toBe(
      'Ada replaced a token: it failed',
    );
  });

  it('names actors without a name by their kind and id, and shows an action that is not known', () => {
    expect(auditSentence(entry({ actor: { kind: 'key', id: 'key_7' }, action: 'moon.land' }), words)).toBe(
      'Key key_7 moon.land',
    );
  });

  it('has its details and the address', () => {
    expect(auditFacts(entry({ details: { limit: 3, preview: null }, address: '192.0.2.1' }))).toBe(
      'limit: 3 · 192.0.2.1',
    );
  });
});
