export {
  anonymizeAudit,
  anonymizeAuditOfUser,
  appendAudit,
  deleteAuditOlderThan,
  listAudit,
  type ActorKind,
  type AuditActor,
  type AuditDetails,
  type AuditEntry,
  type AuditFilter,
  type StoredAuditEntry,
} from './audit-log.js';
