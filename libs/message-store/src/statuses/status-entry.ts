/** A step of an own message as customers see it, in lists and in events. */
import { MESSAGE_STATUS_CODES } from '@dormouse/gateway-contract';

/**
 * The entry as JSON.
 * @param step a table with the message's `id` and `chat_id`, and the `status`, `timestamp` and `errors` of the step
 * @param viewer an expression of the viewer's contact id; null where none is named
 */
export function statusEntrySql(step: string, viewer: string): string {
  return `json_strip_nulls(json_build_object('id', ${step}.id,
    'code', '${JSON.stringify(MESSAGE_STATUS_CODES)}'::jsonb -> ${step}.status, 'status', ${step}.status, 'recipient_id', ${step}.chat_id,
    'viewer_id', ${viewer}, 'timestamp', ${step}.timestamp::text, 'errors', ${step}.errors))`;
}
