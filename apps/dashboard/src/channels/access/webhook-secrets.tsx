import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../../api/api.js';
import { CopyField } from '../../frame/copy-field.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';
import { useTimes } from '../times.js';

const OLD_VALID_S = { day: '86400', hour: '3600', none: '0' } as const;
const OLD_VALID = ['day', 'hour', 'none'] as const;

/** What webhooks are signed with: shown when requested, and replaced. */
export function WebhookSecrets({ channelId }: { channelId: string }) {
  const { t } = useTranslation('channels');
  const { moment } = useTimes();
  const [isShown, setIsShown] = useState(false);
  const [oldValidS, setOldValidS] = useState<string>(OLD_VALID_S.day);
  const path = { id: channelId };
  const secrets = useRead('getWebhookSecrets', { path }, { enabled: isShown });
  const rotate = useAction('rotateWebhookSecret', { changes: ['getWebhookSecrets'], onDone: () => setIsShown(true) });
  return (
    <Part title={t('secret.title')} about={t('secret.about')}>
      <Group>
        <Button variant="default" aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
          {t(isShown ? 'secret.hide' : 'secret.show')}
        </Button>
      </Group>
      <FailureNote error={secrets.error} />
      {isShown &&
        secrets.data?.secrets.map(({ secret, created_at: createdAt, expires_at: expiresAt }) => (
          <Stack key={secret} gap={4}>
            <CopyField value={secret} label={t('secret.label')} />
            <Text size="sm">
              {t('secret.created', { time: moment(createdAt * 1_000) })}{' '}
              {expiresAt === undefined ? t('secret.present') : t('secret.until', { time: moment(expiresAt * 1_000) })}
            </Text>
          </Stack>
        ))}
      <Group align="flex-end">
        <NativeSelect
          label={t('secret.oldValid')}
          value={oldValidS}
          onChange={({ currentTarget: { value } }) => setOldValidS(value)}
          data={OLD_VALID.map((name) => ({ value: OLD_VALID_S[name], label: t(`secret.valid.${name}`) }))}
        />
        <Button
          variant="default"
          loading={rotate.isPending}
          onClick={() => rotate.mutate({ path, body: { old_valid_for_s: Number(oldValidS) } })}
        >
          {t('secret.rotate')}
        </Button>
      </Group>
      <FailureNote error={rotate.error} />
    </Part>
  );
}
