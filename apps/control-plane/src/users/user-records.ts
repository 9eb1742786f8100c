import type { SessionRecord, UserRecord } from '@dormouse/management-contract';
import type { SessionUser } from './user-sessions.js';

const epochS = (time: Date): number => Math.floor(time.getTime() / 1_000);

/** How long a proof of the password is good for what is dangerous. */
export const PROOF_MS = 900_000;

export function userRecord({ id, name, email, twoFactorEnabled, isOperator }: SessionUser): UserRecord {
  return { id, name, email, second_factor: twoFactorEnabled, operator: isOperator };
}

interface SessionRow {
  id: string;
  createdAt: Date;
  expiresAt: Date;
  ipAddress?: string | null;
  userAgent?: string | null;
}

export function sessionRecord(row: SessionRow, currentId: string): SessionRecord {
  return {
    id: row.id,
    created_at: epochS(row.createdAt),
    expires_at: epochS(row.expiresAt),
    ...(row.ipAddress ? { address: row.ipAddress } : {}),
    ...(row.userAgent ? { browser: row.userAgent } : {}),
    current: row.id === currentId,
  };
}

/** Until when a proof is good, in epoch seconds; undefined when it is not good any more. */
export function provenUntil(provenAt: Date | null, nowMs: number): number | undefined {
  const until = (provenAt?.getTime() ?? 0) + PROOF_MS;
  return until > nowMs ? Math.floor(until / 1_000) : undefined;
}
