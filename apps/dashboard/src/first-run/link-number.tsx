import { Alert, Anchor, Button, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { LoginCode } from './login-code.js';
import { StepCard } from './step-card.js';

/** Links a number: by a code to scan, or by eight letters that are typed on the phone. Shows the number once it is linked. */
export function LinkNumber({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  if (isLinked(channel)) {
    return (
      <StepCard title={t('link.title')} isDone>
        <Text role="status">
          {t('link.linked')} <b>+{channel.phone}</b>
          {channel.phone_name !== undefined && ` (${channel.phone_name})`}
        </Text>
      </StepCard>
    );
  }
  return (
    <StepCard title={t('link.title')}>
      <LinkWays channel={channel} />
    </StepCard>
  );
}

/** A number is known and nothing makes a person link it (again). */
export function isLinked({ phone, state, attention }: ManagedChannel): boolean {
  if (phone === undefined || state === 'not_linked' || state === 'linking') return false;
  return !['link', 'link_again', 'unlinked'].includes(attention?.what ?? '');
}

function LinkWays({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const [way, setWay] = useState('scan');
  const phones = useRead('getInstallation', {}).data?.phones_url;
  return (
    <Stack gap="sm" align="flex-start">
      <SegmentedControl
        transitionDuration={0}
        aria-label={t('link.way')}
        value={way}
        onChange={setWay}
        data={[
          { value: 'scan', label: t('link.scan') },
          { value: 'letters', label: t('link.letters') },
        ]}
      />
      {way === 'scan' ? <Scan channel={channel} /> : <Letters channel={channel} />}
      {phones !== undefined && (
        <Alert color="blue" title={t('link.simulated')}>
          <Anchor href={phones} target="_blank" rel="noreferrer">
            {t('link.openPhones')}
          </Anchor>
        </Alert>
      )}
    </Stack>
  );
}

function Scan({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  return (
    <>
      <Text size="sm">{t('link.howToScan')}</Text>
      <LoginCode channelId={channel.id} />
    </>
  );
}

function Letters({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const [phone, setPhone] = useState<string>();
  const form = useForm({
    initialValues: { phone: '' },
    validate: { phone: (text) => (/^\+?[1-9][\d\s()-]{6,20}$/.test(text.trim()) ? null : t('link.phoneFault')) },
  });
  return (
    <>
      <Text size="sm">{t('link.howToType')}</Text>
      <form onSubmit={form.onSubmit((values) => setPhone(values.phone.replaceAll(/\D/g, '')))}>
        <Stack gap="xs">
          <TextInput label={t('link.phone')} type="tel" autoComplete="tel" {...form.getInputProps('phone')} />
          <Button type="submit" variant="default" style={{ alignSelf: 'flex-start' }}>
            {t('link.getLetters')}
          </Button>
        </Stack>
      </form>
      {phone !== undefined && <LoginCode key={phone} channelId={channel.id} phone={phone} />}
    </>
  );
}
