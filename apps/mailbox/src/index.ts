export type { Fault } from './faults.js';
export { startMailbox, type Mailbox, type MailboxOptions } from './mailbox.js';
export type { Wanted } from './mails.js';
export type { ReceivedMail } from './received-mail.js';
