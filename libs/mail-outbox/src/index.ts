export {
  claimMail,
  delayMail,
  deleteMailOlderThan,
  divideMail,
  endMail,
  mailFigures,
  type ClaimedMail,
  type MailOutcome,
} from './claimed-mail.js';
export { enqueueMail } from './enqueue-mail.js';
export {
  MAIL_AUDIENCES,
  type Mail,
  type MailAudience,
  type MailKind,
  type MailKinds,
  type MailRecipient,
} from './mail.js';
