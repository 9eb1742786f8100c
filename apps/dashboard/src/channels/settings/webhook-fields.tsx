import { Button, Fieldset, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../disclosure.js';
import { faultAt } from './draft.js';
import { HeaderFields } from './header-fields.js';
import type { Webhook } from './subscription.js';
import { SubscriptionBoxes } from './subscription-boxes.js';

const MODES = ['body', 'path', 'method'] as const;

interface WebhookFieldsProps {
  webhook: Webhook;
  index: number;
  error: Error | null;
  onChange: (webhook: Webhook) => void;
  onRemove: () => void;
}

/** One webhook: address, events, and what is rarely changed. Fields that are not shown here are kept. */
export function WebhookFields({ webhook, index, error, onChange, onRemove }: WebhookFieldsProps) {
  const { t } = useTranslation('channelSettings');
  const { webhook_max_age_seconds: maxAgeS, ...others } = webhook;
  return (
    <Fieldset legend={t('webhooks.legend', { number: index + 1 })}>
      <Stack gap="sm">
        <TextInput
          label={t('webhooks.url')}
          description={t('webhooks.urlHelp')}
          type="url"
          value={webhook.url}
          error={faultAt(error, `webhooks.${index}.url`)}
          onChange={({ currentTarget: { value } }) => onChange({ ...webhook, url: value.trim() })}
        />
        <SubscriptionBoxes events={webhook.events} onChange={(events) => onChange({ ...webhook, events })} />
        <Disclosure label={t('webhooks.more')}>
          <Stack gap="sm" py="xs">
            <NativeSelect
              label={t('webhooks.mode')}
              description={t('webhooks.modeHelp')}
              value={webhook.mode}
              data={MODES.map((value) => ({ value, label: t(`webhooks.modes.${value}`) }))}
              onChange={({ currentTarget: { value } }) => {
                const mode = MODES.find((each) => each === value);
                if (mode) onChange({ ...webhook, mode });
              }}
            />
            <HeaderFields headers={webhook.headers ?? {}} onChange={(headers) => onChange({ ...webhook, headers })} />
            <TextInput
              label={t('webhooks.maxAge')}
              description={t('webhooks.maxAgeHelp')}
              type="number"
              min={15}
              value={maxAgeS ?? ''}
              error={faultAt(error, `webhooks.${index}.webhook_max_age_seconds`)}
              onChange={({ currentTarget: { value } }) =>
                onChange(value === '' ? others : { ...webhook, webhook_max_age_seconds: Number(value) })
              }
            />
          </Stack>
        </Disclosure>
        <Button variant="default" size="xs" onClick={onRemove} style={{ alignSelf: 'flex-start' }}>
          {t('webhooks.remove', { number: index + 1 })}
        </Button>
      </Stack>
    </Fieldset>
  );
}
