import { useState } from 'react';
import { ApiFailure, operation, queryClient, useAction } from '../../api/api.js';
import type { Settings } from './subscription.js';

export type Change = <Field extends keyof Settings>(field: Field, value: Settings[Field]) => void;

/**
 * Settings as they are edited: what is stored with what was changed over it. Only changed fields are sent, so a field that this
 * page does not know, or that somebody else changed meanwhile, stays.
 */
export function useDraft(channelId: string, stored: Settings) {
  const [changed, setChanged] = useState<Partial<Settings>>({});
  const save = useAction('changeSettings', {
    changes: ['listWebhooks'],
    onDone: (record) => {
      queryClient.setQueryData(operation('getSettings', { path: { id: channelId } }).queryKey, record);
      setChanged({});
    },
  });
  const change: Change = (field, value) =>
    setChanged((before) => {
      const { [field]: _, ...others } = before;
      const isBack = JSON.stringify(stored[field]) === JSON.stringify(value);
      return isBack ? others : { ...before, [field]: value };
    });
  return {
    settings: { ...stored, ...changed },
    change,
    isChanged: Object.keys(changed).length > 0,
    discard: () => setChanged({}),
    save: () => save.mutate({ path: { id: channelId }, body: changed }),
    isSaving: save.isPending,
    isSaved: save.isSuccess && Object.keys(changed).length === 0,
    error: save.error,
  };
}

/** The sentence of a 400 at exactly this field (`webhooks.0.url`). */
export function faultAt(error: Error | null, path: string): string | undefined {
  return error instanceof ApiFailure && error.fieldPath === path ? error.sentence : undefined;
}
