/** Texts for every topic of the English speakers: small talk, replies, comments on quoted casts, longer thoughts. */
export const ENGLISH_COMMON = `
when: this morning | last night | yesterday | today | on Sunday | after lunch | at dawn
count: 3 | 4 | 6 | 7 | 9 | 12 | 14 | 23
verdict: Worth it | Ten out of ten | I will report back | Not bad at all | Would do it again | Still thinking about it | Jury is out | No notes | Best part of the week
smalltalk: gm ☀️ | gm to everyone who got up early and everyone who never went to bed | Good night from the {place} 🌙 | Coffee, then opinions ☕
smalltalk: Who is around {day}? Thinking of a small meetup at the {place} | Small thing that made my day: {small} | Does anyone know why the {place} is closed {day}?
smalltalk: Unfollowed the news for a week. {small} instead. Recommended | Reminder to drink water and call {relative} 💧 | Writing this from the {place}, {small}
smalltalk: It is {hour_of_rest} and I have done nothing. Wonderful | {@} happy birthday! 🎂 | {@} that thing you said {when} has been in my head since | {@} {@} we should do that again {day}
place: ferry | park bench by the pond | corner bakery | library steps | tram depot | harbour wall | laundromat
small: the bus driver waved back | someone fixed the swing in the park | fresh figs at the corner | the rain stopped exactly at five | a stranger's umbrella | the radio played the right song
hour_of_rest: Sunday already | almost noon | nine in the evening | raining
relative: your grandmother | your sister | an old friend
day: Friday | tomorrow | this weekend | Tuesday evening
reply: This made my day | Same here, every single time | Oh no 😂 | Tell me more about the second part | I was just about to write this | Saving this for later | Can confirm | Please post a photo
reply: Counterpoint: {small} | Which one did you end up with? | I tried that {when}, did not go well | You are braver than I am | {verdict}, honestly | Where is this? | Is that the one near the {place}?
reply: Okay this convinced me | Count me in for {day} | How long did it take? | Strong agree | Hm, I remember it differently | That is the correct opinion 👏 | Adding it to the list
reply: I laughed out loud at the {place} | Teach me | Have you asked {@}? | {@} look at this | No way. Since when? | Beautiful ✨ | 🔥 | 💜 | ha | Go on… | Underrated
reply: Half of that is luck and the other half is patience | We had the same here {when}! | My whole week in one sentence | So what happened next? | This is why I come here
followup: It gets better, promise | {verdict}. And then {small} | About {count} minutes, give or take | The one near the {place}, yes | No photo, sorry, hands were full | I asked around: nobody knows
followup: Good question. I thought so too until {when} | Next time you are coming along | Exactly that | Ha, thank you 🙏 | Long story, I will write it down {day} | You were right, {when} proved it
quote: Reading this again {when}. {verdict} | This, and also: {small} | Everyone should see this one | Adding my own: {small} | Saving this where I can find it | {@} this is the one I meant
aside: I keep coming back to this, usually around the {place}, usually too late in the day. | None of it was planned, which may be why it worked.
aside: If you had told me {when} that I would care this much, I would have laughed. | The short version is that patience won; the long version has a ferry in it.
aside: People ask how to begin, and the honest answer is badly, and then again. | There is a lesson in here somewhere, but I would rather tell you what happened.
aside: It cost nothing, took {count} tries, and I would not trade it. | Everyone I asked had a different answer and all of them were sure.
aside: So I wrote it down, in order, before memory could tidy it up. | Somewhere in the middle of it {small}, and that was the part I kept.
place_bio: lives near a ferry | somewhere by the sea | mostly on trains | north of the river | at the end of the tram line | island time
`;

/** Openings and closings of the long articles that Pro allows. */
export const ENGLISH_ARTICLE = `
opening: A long one today. I have been meaning to write this since {when}, and {small} was as good a reason as any. | Some notes from {count} weeks of doing one thing slowly.
closing: That is all of it. If you read this far, go outside for a while. | Thank you for reading. Questions below, I answer all of them, slowly.
`;
