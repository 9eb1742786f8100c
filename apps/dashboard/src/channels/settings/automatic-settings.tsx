import { NativeSelect, Switch, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Part } from '../part.js';
import type { SettingProps } from './setting-props.js';
import type { Settings } from './subscription.js';

const PRESENCES = ['none', 'online', 'typing', 'recording'] as const satisfies readonly Settings['auto_presence'][];
const SWITCHES = ['auto_read', 'offline_mode', 'group_notices', 'full_history', 'legacy_status_text'] as const;

/** What the number does by itself. */
export function AutomaticSettings({ settings, change }: SettingProps) {
  const { t } = useTranslation('channelSettings');
  return (
    <Part title={t('automatic.title')}>
      <NativeSelect
        label={t('automatic.presence')}
        description={t('automatic.presenceHelp')}
        maw={360}
        value={settings.auto_presence}
        data={PRESENCES.map((value) => ({ value, label: t(`automatic.presences.${value}`) }))}
        onChange={({ currentTarget: { value } }) => {
          const presence = PRESENCES.find((each) => each === value);
          if (presence) change('auto_presence', presence);
        }}
      />
      {SWITCHES.map((name) => (
        <Switch
          key={name}
          label={t(`automatic.${name}`)}
          description={t(`automatic.${name}Help`)}
          checked={settings[name] ?? false}
          onChange={({ currentTarget: { checked } }) => change(name, checked)}
        />
      ))}
      <IgnoredPresences chats={settings.ignored_presences} onChange={(chats) => change('ignored_presences', chats)} />
    </Part>
  );
}

function IgnoredPresences({ chats, onChange }: { chats: readonly string[]; onChange: (chats: string[]) => void }) {
  const { t } = useTranslation('channelSettings');
  const [text, setText] = useState(chats.join('\n'));
  return (
    <Textarea
      label={t('automatic.ignored')}
      description={t('automatic.ignoredHelp')}
      autosize
      minRows={2}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        onChange(value.split(/[\s,]+/).filter((chat) => chat !== ''));
      }}
    />
  );
}
