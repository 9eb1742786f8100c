import { listAudit, type StoredAuditEntry } from '@dormouse/audit-log';
import type { GlobalDatabase } from '@dormouse/database';
import { valid } from '@dormouse/http-server';
import { auditQuery, type AuditPage, type AuditQuery, type AuditRecord } from '@dormouse/management-contract';
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { CurrentAccount } from '../accounts/account.guard.js';
import type { Account } from '../accounts/accounts.js';
import { GLOBAL_DATABASE } from '../services.js';

@Controller('audit')
export class AuditController {
  constructor(@Inject(GLOBAL_DATABASE) private readonly database: GlobalDatabase) {}

  /** A page of the account's audit log, newest first. */
  @Get()
  async list(
    @CurrentAccount() account: Account,
    @Query(valid(auditQuery)) { count, cursor, action, actor, object, from, to }: AuditQuery,
  ): Promise<AuditPage> {
    const page = { count: count + 1, ...(cursor === undefined ? {} : { before: cursor }) };
    const found = await listAudit(this.database.pool, account.id, page, {
      ...(action === undefined ? {} : { action }),
      ...(actor === undefined ? {} : { actorId: actor }),
      ...(object === undefined ? {} : { objectId: object }),
      ...(from === undefined ? {} : { from: new Date(from * 1_000) }),
      ...(to === undefined ? {} : { to: new Date(to * 1_000) }),
    });
    const shown = found.slice(0, count);
    const last = shown.at(-1);
    return { entries: shown.map(shownEntry), ...(found.length > count && last ? { next: last.id } : {}) };
  }
}

/** An entry as the API shows it. */
export function shownEntry({
  id,
  at,
  actor,
  action,
  object,
  address,
  requestId,
  details,
}: StoredAuditEntry): AuditRecord {
  return {
    id,
    at: Math.floor(at.getTime() / 1_000),
    actor,
    action,
    ...(object ? { object } : {}),
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(details ? { details: { ...details } } : {}),
  };
}
