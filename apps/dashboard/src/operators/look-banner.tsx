import { Alert, Button, Group, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { endLook, useLook } from '../session/session.js';

/** Shown on every page while an operator looks at an account of others. */
export function LookBanner() {
  const { t } = useTranslation('operators');
  const look = useLook();
  const navigate = useNavigate();
  if (!look) return null;
  const end = (): void => {
    endLook();
    void navigate({ to: '/operators/accounts/$account', params: { account: look.id } });
  };
  return (
    <Alert color="blue" radius={0} mb="md" icon={<IconEye aria-hidden />} title={t('look.title', { name: look.name })}>
      <Group justify="space-between" wrap="wrap">
        <Text size="sm">{t('look.text')}</Text>
        <Button size="xs" variant="default" onClick={end}>
          {t('look.end')}
        </Button>
      </Group>
    </Alert>
  );
}
