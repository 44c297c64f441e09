/** What the English speakers of the demo network write about: one source per topic, read by `readGrammar`. */
export const ENGLISH_TOPICS = {
  coffee: `
reply: Try it on the {brewer}, it {tastes} | {degrees} degrees? Bold | {bean} is the answer, whatever the question | My {brewer} would disagree | Is this the bar by the {spot}? | Grind finer, complain less | Mine {tastes} no matter what I do
post: First cup of the day: {bean} on the {brewer}. {verdict} | Switched from {brewer} to {brewer} and {bean} tastes like a different coffee.
post: Is anyone else grinding coarser for {bean}? On the {brewer} it {tastes} otherwise. | Water at {degrees} degrees for {bean}. I will not be taking questions.
post: Third {brewer} today. Typing has improved, sleep will not. | The grinder came back from repair. {verdict}
post: Visited the new bar by the {spot}. {bean}, {brewer}, no music. {verdict} | Recipe that works here: {grams} g of {bean}, {degrees} degrees, two pours, stop at {minutes} minutes.
post: {bean} {tastes} {when}. Same beans, same {brewer}. Weather? | Cupping notes from {when}: {bean} {tastes}, the rest was just hot and brown.
post: Hot take, or at least a warm one: {bean} is wasted on the {brewer}. | Cleaned the {brewer} properly for the first time in months. {verdict}
bean: a washed Ethiopian | the natural from Yirga | a honey Costa Rican | the house decaf | a Kenyan peaberry | the dark roast nobody admits to liking | a Colombian anaerobic | the last of the Guatemalan
brewer: V60 | moka pot | old espresso machine | AeroPress | French press | siphon | batch brewer | hotel kettle
tastes: tastes like apricot jam | turns sour | is all cocoa and orange peel | is flat as tap water | smells of jasmine | tastes of toast | is pure caramel
spot: ferry landing | old print shop | library | tram depot | covered market
degrees: 88 | 91 | 93 | 94 | 96
grams: 12 | 15 | 18 | 20
minutes: two and a half | three | three and a half
bio: coffee notes nobody asked for | chasing the perfect pour-over | three grinders, no regrets`,
  garden: `
reply: Cover it before {weather}! | Could I trade you a {plant} for one? | It is {guess}. It is always {guess'} | Mine never survives {weather} | More compost. The answer is always more compost | Try it next to the {plant} | My {plant} heard that and wilted
post: The {plant} made it through {weather}. I did not expect that. | Repotted the {plant} {when}. {verdict}
post: First {plant} of the season, about the size of a coin. Proud anyway. | {weather} took the {plant}. The {plant} does not seem to care.
post: Neighbour traded me a {plant} for half a bag of compost. Best deal of the {season}. | What eats {plant} leaves at night but leaves the {plant} alone? {guess}
post: Seeds ordered: {plant}, {plant}, and a {plant} I have no room for. | Slugs: {count}, me: 0. The {plant} is a memory.
post: Mulched everything before {weather}. {verdict} | Balcony report: {plant} up, {plant} sulking, {plant} plotting something.
post: You can hear the {plant} growing if you sit outside long enough. Or it is the {guess}. | Saved seed from the {plant} for the third year. It is turning into its own thing.
plant: tomatillo | sweet pea | climbing bean | fig | lemon balm | rhubarb | dahlia | pak choi | chilli | strawberry runner | quince sapling | thyme
weather: the hail | a week of rain | the heat | last frost | that storm | three grey days
season: spring | summer | autumn
guess: slugs | the neighbour's cat | a very small deer | pigeons, as always
bio: balcony gardener | growing things that should not grow here | compost enthusiast`,
  books: `
reply: The {part} is why I gave up on it | Have you read {book}? Same mood | {book} did it better, sorry | I cried at the {part}. On a bus | Putting it under {book} on the pile | Who translated yours? | The {part}! I still think about it
post: Finished {book}. {verdict} | Halfway through {book} and the {part} is still going. {feeling}
post: Reading {book} on the train and missed my stop {when}. | {book} has the best {part} I have read this year. Fight me gently.
post: Book club picked {book}. I voted for {book}. {feeling} | Opened {book} for "one chapter" {when}. It is now tomorrow.
post: Second-hand shop find: {book}, with a stranger's notes in the {part}. The notes are better. | Nobody warned me about the {part} of {book}.
post: Three books on the table: {book}, {book}, and one for pretending. | Lent out {book} years ago. {@} do you still have it?
post: Does a slow {part} ruin a book for you? {book} made me wonder. | Rereading {book}. It got shorter, or I got slower.
book: "The Salt Orchard" | "Night Ferry to Ansel" | "A Short History of Doors" | "Nine Quiet Machines" | "The Cartographer's Aunt" | "Letters Kept in Tin" | "Winter Wheat" | "The Unhurried Detective" | "Low Tide Grammar"
part: middle | opening chapter | ending | appendix | footnotes | second half | translation
feeling: I have thoughts | No spoilers please | Send tea | Strong opinions were shared
bio: reads on trains | slow reader, quick opinions | will trade paperbacks`,
  music: `
reply: That {instrument} line! | Is this from the early tapes? | {artist} opened for them once, in a {room} | You recorded that in the {room}? It sounds huge | Put some {noise} on it | On repeat here too | Reminds me of "{song}"
post: On repeat {when}: {artist}, "{song}". {verdict} | Recorded a {instrument} take in the {room}. {verdict}
post: The {instrument} part in "{song}" by {artist} lives in my head rent free. | Learning "{song}" on {instrument}. Day {count}: the neighbours know it too.
post: Small gig {when}: {artist} in a {room}, {count} people, perfect sound. | New strings on the {instrument}. Everything is forgiven.
post: If you like {artist}, try the early tapes. Hiss included, worth it. | Mixing tip: turn the {instrument} down. No, further. {verdict}
post: {@} sent me {artist} and now the week has a soundtrack. | Sampled the {noise} for a beat. It grooves more than it should.
post: Playlist for {weather}: slow {instrument}, one {artist} track, a lot of quiet. | "{song}" came on in the shop and three strangers hummed along.
artist: Paper Comets | The Low Lanterns | Velvet Abacus | Juno Tidewater | Saltbox Choir | Night Bus Ensemble | Halfmoon Radio
song: Copper Morning | Window Seat | Small Hours | Harbour Lights Again | Half a Map | Leave the Porch On
instrument: cello | bass | tape loop | upright piano | clarinet | drum machine | baritone guitar
room: stairwell | kitchen | parking garage | chapel | back room of the bakery
noise: dishwasher | elevator | ice in a glass | printer | tram doors
weather: rain | a long drive | the night shift | doing dishes
bio: plays bass, badly, in tune | tape hiss collector | makes quiet songs`,
  cycling: `
reply: {road} with that wind? Respect | Check the {part} first | I am in for {rideday} | {km} km is a lot before cake | We passed you on {road}, I think! | Was it the {part} again? | Save me a pastry
post: {km} km before breakfast, {road}. {verdict} | {part} gave up at kilometre {km}. Walked the rest. Lovely walk.
post: New {part} fitted {when}. Silent at last. | {road}, headwind both ways. How.
post: Anyone up for {road} on {rideday}? Easy pace, cake stop guaranteed. | The climb after {road} is {grade} percent and there is a bench at the top. There is justice.
post: Counted {count} herons along {road}. | Chain waxed, tyres pumped, legs unconvinced. {road} {when}.
post: Rode {road} with {@} {when}. {km} km, one puncture, two pastries. | Is a squeaky {part} a personality? Asking before I fix it.
post: Saw the sun come up from {road}. {verdict} | Commute today: green lights all the way down {road}. I should buy a ticket for something.
road: the canal path | the reservoir loop | the old rail trail | the coast road | the vineyard gravel | the bridge-to-bridge lap
part: bottom bracket | rear derailleur | saddle | dynamo light | front tyre | bell
km: 18 | 24 | 32 | 41 | 56 | 73 | 88
grade: 9 | 11 | 14
rideday: Saturday | Sunday | Thursday evening
bio: rides for the cake stops | gravel and ferries | two wheels, no hurry`,
  photography: `
reply: Which {camera} is that? | I would hang this on a wall | Try {film} there, early | {subject}, again, please, never stop | The shadows! | How long did you wait? | {minutes} minutes well spent
post: Light like this lasts about {minutes} minutes. {subject}, {film}. | Roll {count} is back from the lab. {subject} came out, the rest is fog.
post: {subject} {when}, {film}, one frame left. {verdict} | Metered for the shadows and got {subject} exactly as I saw it. {verdict}
post: Found a {camera} at a flea market. Shutter sticks below 1/30. Bought it anyway. | Waited {minutes} minutes for someone to walk past {subject}. Nobody did. Took it empty.
post: Contact sheet day. {subject} again. Apparently that is my subject now. | Printing {subject} on matte for the first time. {verdict}
post: If your {camera} has a light leak, it is a feature until you sell it. | {@} how did you get that blue? I only get it on {film}, after rain.
post: Walked the same street for a week. Day {count}: {subject}. | Dust on every scan. The {camera} and I need to talk.
subject: the ferry queue | laundry against a blue wall | a dog waiting outside the bakery | shadows on the tram floor | the closed cinema | steam over the market | two chairs and no table | the lighthouse in fog
film: expired slide film | plain black and white | phone, no edits | 400 pushed to 1600 | the last roll of cold stock
camera: folding camera | half-frame compact | rangefinder with a dent | plastic toy camera
minutes: four | seven | eleven | twenty
bio: half-frame, full patience | photographs of nothing happening | waits for light`,
  kitchen: `
reply: {trick}. Trust me | Now I need {dish} | Does it work with {ingredient}? | My grandmother would add one {ingredient} and no words | Freezes well? | Recipe, please, slowly | I tried {dish} once. We do not talk about it
post: {dish} for dinner, {trick}. {verdict} | Tried {dish} again. This time {trick}. {verdict}
post: The secret of {dish} is {trick}. Told to me by someone's grandmother, so it is law. | Burnt the {ingredient}. Called it smoky. They asked for seconds.
post: What do you do with half a {ingredient}? Not soup, I have soup. | Sourdough update: {dough}. {feeling}
post: Market haul: {ingredient}, {ingredient}, and a {ingredient} I had to ask about. | {dish} at {hour} in the morning is a valid life choice.
post: Made {dish} for {@} and got the quiet kind of compliment: no leftovers. | Low heat. That is the whole recipe for {dish}. Low heat and {trick}.
post: Sharpened the knives {when}. I fear the {ingredient} no longer. | My {dish} has opinions about humidity. {feeling}
dish: lentil stew | cold noodles | onion tart | rice pudding | tomato bread soup | dumplings | chickpea pancakes | roast cabbage | plum cake
trick: a spoon of miso | browning the butter first | more vinegar than you think | letting it rest overnight | salting early | one anchovy nobody notices
ingredient: celeriac | fennel | jar of tahini | black garlic | bunch of dill | cabbage | preserved lemon
dough: alive | sulking in the fridge | on the ceiling | doubled in an hour | strangely beautiful
hour: one | two | six
feeling: Pray for us | More news at breakfast | We move on | I regret nothing
bio: cooks from the bottom of the fridge | slow bread | low heat, long evenings`,
  gamedev: `
reply: Ship it with the {bug} | The {thing} deserves its own game | It was {cause}, was it not? | Please keep the {thing} | I want to play this already | Add a {thing} and call it done | My {bug} and your {bug'} should meet
post: Fixed the {bug}. It was {cause}. It is always {cause'}. | Devlog: the {thing} works now, and only {count} frames late.
post: Playtester {when}: "why does the {thing} follow me?" It is not supposed to. Keeping it. | Spent the day on the {thing}. Nobody will notice. {verdict}
post: Replaced physics for the {thing} with a sine wave. {verdict} | Scope cut of the week: the {thing}. It will be remembered.
post: Shader compiles, {thing} glows, fan spins. Progress. | The {bug} is back. {cause}, but in a hat.
post: Name for a {thing} that apologises? Best reply ships. | {@} showed me their {thing} and I deleted mine out of respect.
post: One level, one {thing}, one week. Day {count}. | Tip: log the seed. Found the {bug} in ten minutes instead of ten days.
thing: fishing rod | save system | inventory screen | grumpy door | day and night cycle | map editor | goose | dialogue tree | lantern
bug: falling-through-the-stairs bug | double jump bug | off-by-one in the shop | audio crackle | camera wobble
cause: an off-by-one | a float compared with equals | last night's me | a forgotten reset | time zones, somehow
bio: makes small games slowly | one goose, many bugs | tiny worlds, tidy code`,
  cats: `
reply: {name} would never. {name'} absolutely would | The {perch} is theirs now, accept it | Mine prefers the {perch} | Give them {food} and nobody gets hurt | Photo, or it was a dog | Pet them from me | {name} sends regards from the {perch}
post: The cat has discovered the {perch}. {consequence} | {name} sat on the {perch} for six hours and then asked for {food}.
post: {name} brought me a {gift} at four in the morning. Thank you, {name'}. | Bought an expensive bed. {name} prefers the {perch}. {consequence}
post: Vet says {name} is "solid". {name'} says {food}. | Meeting cancelled because {name} is on the {perch}.
post: {name} versus the {gift}, round {count}. No winner yet. | If I move, {name} wakes up. So this is where I live now. Near the {perch}.
post: {name} watched the {gift} for an hour, then looked at me as if I had done it. | Today {name} learned what the {perch} is for. {consequence}
post: {@} how is your cat with the {perch}? Mine has filed a complaint. | {food} at five or chaos at six. {name} sets the terms.
name: Biscuit | Professor | Miso | Turnip | Captain | Pixel | Olive | Thursday
perch: printer | bread basket | piano lid | top of the fridge | clean laundry | keyboard | cardboard box | radiator
gift: receipt | single sock | leaf | moth | rubber band | feather
food: dinner | the other food | tuna | breakfast, again
consequence: We cannot print any more | Send help | Nothing will be the same | It is theirs now | I have been demoted
bio: staff of two cats | here for the cats | minder of Biscuit`,
  nightsky: `
reply: Clouds here, of course | {gear} showed it here too | Try the {spot} next time, much darker | I got {object} instead, no regrets | That is a good sky | How long an exposure? | Wish I had been at the {spot}
post: {object} from the {spot} {when}, {gear}. {verdict} | Clouds until midnight, then {object}, sharp as a pin.
post: Showed {object} to the neighbour's kids. Best gasp of the year. | {gear}, {object}, {minutes} minutes of exposure, one satellite straight through the middle.
post: The {spot} is dark enough for {object} now that the lamps are off. | Froze at the {spot} for {object}. {verdict}
post: Tonight: {object} rises after nine. {gear} is plenty. | Logged {object} for the first time since spring. Old friend.
post: Dew on {gear} again. {object} seen through a bathroom window, basically. | {@} were you up for {object} {when}? The seeing was unreal here.
post: Counted {count} meteors from the {spot} and forgot every wish. | A friend asked what the point of {object} is. I handed over {gear}. No more questions.
object: the Ring Nebula | Saturn's rings | the Double Cluster | a thin Moon | Jupiter and three moons | the Andromeda galaxy | the Pleiades | a bright pass of the station
spot: quarry | sea wall | back field | roof | allotment | car park above town
gear: old binoculars | a borrowed eight-inch | a phone on a tripod | a home-made mount | bare eyes
minutes: two | five | twelve | forty
bio: up late for faint things | dark sky walker | owns too many eyepieces`,
  type: `
reply: That {letter}! | {face} would have been braver | Which {sign} was it? | {pair} haunts me too | Looser. No, looser | I would license that {letter} on its own | Please draw the rest
post: Spent an hour kerning {pair}. {verdict} | The {letter} in {face} is doing something brave.
post: Spotted {face} on a {sign}. Somebody loved that {sign'}. | Drew a lower-case {letter} {count} times. Number {count'} is nearly a letter.
post: Unpopular: {face} is fine at small sizes. It is the spacing you hate. | Old {sign} by the harbour has a {letter} I have never seen in any font.
post: {pair} will be the end of me. | Set the whole menu in {face}. The soup looks more expensive.
post: {@} which {letter} do you draw first? I always start with the {letter} and regret it. | Proofs are back. Ink spread ate the {letter}. {verdict}
post: A good ampersand forgives a bad {letter}. Discuss. | Digitising a {sign}: thirteen letters, one of them invented.
face: Corriden Sans | Old Mallow | Tern Grotesk | Pelham Slab | Brisk Mono | Almanac Italic
letter: g | Q | ampersand | R | a | eszett | k
pair: "AV" | "To" | "ry" | "LT" | "fj"
sign: pharmacy sign | ghost sign | bakery box | tram timetable | shop awning
bio: draws letters | collector of ghost signs | spacing is everything`,
  opensource: `
reply: Was it the {thing}? | Deleting the {thing} fixed it here | {share} of my week, in one cast | Release notes or it did not happen | Mine runs on a {machine}, fine so far | I can review it tonight | {lines} lines! A good day
post: Merged {count} pull requests {when}, closed one {thing} older than the repo. | Wrote the docs first, then the {thing}. {verdict}
post: The {thing} had no tests. Now it has tests and two fewer bugs. | Reviewed a {thing} from a first-time contributor. Better than mine. {verdict}
post: Deleted {lines} lines from the {thing}. Nothing broke. That is the story. | Small release today: faster {thing}, clearer errors, same name.
post: "Works on my machine" but the machine is a {machine}. {verdict} | Profiled the {thing}: {share} of the time went to logging that it was fast.
post: Thanks to {@} for chasing the {thing} race for a week. It was two lines. | If the {thing} needs a diagram, maybe the {thing'} needs a delete key.
post: Bisected {when}. The culprit: a {thing}, three years old, author: me. | Who else keeps a {machine} just to hear the tests run?
thing: parser | cache | config loader | retry loop | flaky test | changelog | migration | date picker | build script
machine: laptop with a cracked hinge | tiny arm board | borrowed server | nine-year-old desktop
lines: 40 | 212 | 600 | 1,900
share: a third | half | ninety percent
bio: maintains small libraries | deletes code for fun | reads changelogs`,
} as const;

export type Topic = keyof typeof ENGLISH_TOPICS;

/** Texts of English speakers for every topic: small talk, replies, comments on quoted casts, longer thoughts. */
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
