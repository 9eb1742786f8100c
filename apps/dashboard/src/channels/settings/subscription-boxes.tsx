import { Checkbox, Fieldset, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { EVENT_METHODS, EVENT_TYPES, isSubscribed, withSubscribed, type Subscription } from './subscription.js';

interface SubscriptionBoxesProps {
  events: Subscription;
  onChange: (events: Subscription) => void;
}

/** A box for each type of event and method. */
export function SubscriptionBoxes({ events, onChange }: SubscriptionBoxesProps) {
  const { t } = useTranslation('channelSettings');
  return (
    <Fieldset legend={t('events.title')} variant="unstyled">
      <Stack gap="xs">
        {EVENT_TYPES.map((type) => (
          <div key={type} role="group" aria-label={type}>
            <Text size="sm">
              <b>{type}</b>: {t(`events.types.${type}`)}
            </Text>
            <Group gap="md">
              {EVENT_METHODS[type].map((method) => (
                <Checkbox
                  key={method}
                  label={t(`events.methods.${method}`)}
                  aria-label={`${type}.${method}`}
                  checked={isSubscribed(events, type, method)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange(withSubscribed(events, { type, method }, checked))
                  }
                />
              ))}
            </Group>
          </div>
        ))}
      </Stack>
    </Fieldset>
  );
}
