import type { Answer } from '../api/operation-types.js';

export type AuditEntry = Answer<'listAudit'>['entries'][number];

interface Words {
  /** What was done by action, with `_` for `.` and `-`: "created a channel". */
  did: Readonly<Record<string, string>>;
  failed: string;
  /** Actors without a name. */
  actors: Readonly<Record<AuditEntry['actor']['kind'], string>>;
}

const FAILED = '.failed';

/** An entry of the audit log as a sentence; an action that this page does not know is shown as it is stored. */
export function auditSentence({ actor, action, object }: AuditEntry, { did, failed, actors }: Words): string {
  const isFailed = action.endsWith(FAILED);
  const plain = isFailed ? action.slice(0, -FAILED.length) : action;
  const who = actor.name ?? `${actors[actor.kind]} ${actor.id}`;
  const about = object === undefined ? '' : ` (${object.id})`;
  return `${who} ${did[plain.replace(/[.-]/g, '_')] ?? plain}${about}${isFailed ? `: ${failed}` : ''}`;
}

/** Further facts of an entry. */
export function auditFacts({ details = {}, address }: AuditEntry): string {
  const facts = Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`);
  return [...facts, ...(address === undefined ? [] : [address])].join(' · ');
}
