import { Code, Text } from '@mantine/core';
import type { PulledEvent } from '@dormouse/management-contract';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../disclosure.js';
import { useTimes } from '../times.js';
import { eventSummary } from './event-summary.js';

/** An event in a line; opened, its whole body. */
export const EventRow = memo(function EventRow({ event }: { event: PulledEvent }) {
  const { t } = useTranslation('events');
  const { clock, moment } = useTimes();
  const { name, text } = eventSummary(event);
  return (
    <div role="listitem">
      <Disclosure
        label={
          <>
            <Text span size="sm" c="dimmed">
              {clock(event.created_at_ms)}
            </Text>
            <Text span size="sm" fw={600}>
              {name}
            </Text>
            <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
              {text}
            </Text>
          </>
        }
      >
        <Text size="sm">
          {t('row.facts', { sequence: event.sequence, id: event.id, time: moment(event.created_at_ms) })}
        </Text>
        <Code block className="raw-text" tabIndex={0} aria-label={t('row.body')}>
          {JSON.stringify(event.body, undefined, 2)}
        </Code>
      </Disclosure>
    </div>
  );
});
