import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';

/** Delivers every event since a time again. */
export function Replay({ channelId, webhookId }: { channelId: string; webhookId: string }) {
  const { t } = useTranslation('webhooks');
  const [since, setSince] = useState('');
  const replay = useAction('replayEvents', { changes: ['listWebhooks', 'listDeliveries'] });
  const sinceMs = new Date(since).getTime();
  return (
    <Part title={t('replay.title')} about={t('replay.about')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          replay.mutate({ path: { id: channelId, webhook: webhookId }, body: { from: Math.floor(sinceMs / 1_000) } });
        }}
      >
        <Stack gap="sm" maw={360}>
          <TextInput
            type="datetime-local"
            label={t('replay.since')}
            value={since}
            onChange={({ currentTarget: { value } }) => setSince(value)}
          />
          <Button
            type="submit"
            variant="default"
            disabled={Number.isNaN(sinceMs)}
            loading={replay.isPending}
            style={{ alignSelf: 'flex-start' }}
          >
            {t('replay.start')}
          </Button>
        </Stack>
      </form>
      <FailureNote error={replay.error} />
      {replay.data && (
        <Text size="sm" role="status">
          {t('replay.started', { n: replay.data.events })}
        </Text>
      )}
    </Part>
  );
}
