/** The types of error that the API answers. */
export type FaultType = 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';

/** What an error may carry beside its type and sentence. */
export interface FaultDetails {
  code?: string;
  param?: string;
  decline_code?: string;
  payment_intent?: unknown;
  payment_method?: unknown;
}

/** An answer that is an error. Everything that the request changed is undone, unless the error `keepsChanges`: a declined card is on record. */
export class StripeFault extends Error {
  constructor(
    readonly status: number,
    readonly type: FaultType,
    message: string,
    readonly details: FaultDetails = {},
    readonly keepsChanges = false,
  ) {
    super(message);
  }

  /** The body on the wire. */
  body(): { error: Record<string, unknown> } {
    return { error: { message: this.message, ...this.details, type: this.type } };
  }
}

/** 400: the request cannot be done as it was written. */
export function invalid(message: string, param?: string, code?: string): StripeFault {
  return new StripeFault(400, 'invalid_request_error', message, {
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
  });
}

/** An id that stands for nothing: 404 in the path of the request, 400 in a parameter. */
export function noSuch(noun: string, id: string, param = 'id'): StripeFault {
  return new StripeFault(param === 'id' ? 404 : 400, 'invalid_request_error', `No such ${noun}: '${id}'`, {
    code: 'resource_missing',
    param,
  });
}
