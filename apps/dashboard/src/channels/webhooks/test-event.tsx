import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { DeliveryEntry } from './delivery-entry.js';

const POLL_MS = 500;

/** Sends a webhook a test event, and shows what its address answered. */
export function TestEvent({ channelId, webhookId }: { channelId: string; webhookId: string }) {
  const { t } = useTranslation('webhooks');
  const [sequence, setSequence] = useState<number>();
  const path = { id: channelId, webhook: webhookId };
  const test = useAction('sendTestEvent', { onDone: (sent) => setSequence(sent.sequence) });
  const [isAnswered, setIsAnswered] = useState(false);
  const deliveries = useRead(
    'listDeliveries',
    { path, query: { count: 20 } },
    { enabled: sequence !== undefined, ...(isAnswered ? {} : { everyMs: POLL_MS }) },
  );
  const delivery = deliveries.data?.deliveries.find((entry) => entry.sequence === sequence);
  if (delivery && !isAnswered) setIsAnswered(true);
  return (
    <Stack gap="xs" align="flex-start" w="100%">
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          loading={test.isPending}
          onClick={() => {
            setIsAnswered(false);
            test.mutate({ path });
          }}
        >
          {t('test.send')}
        </Button>
        {sequence !== undefined && !delivery && (
          <Text size="sm" role="status">
            {t('test.waiting')}
          </Text>
        )}
      </Group>
      <FailureNote error={test.error ?? deliveries.error} />
      {delivery && (
        <div role="status">
          <DeliveryEntry delivery={delivery} />
        </div>
      )}
    </Stack>
  );
}
